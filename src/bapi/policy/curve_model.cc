#include "bapi/policy/curve_model.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "bapi/base/error.h"
#include "bapi/gp/monotone_gp.h"
#include "bapi/math/normal.h"

namespace bapi {
namespace {

Vector lowest(const Matrix& x) { return x.colwise().minCoeff().transpose(); }

// A coordinate that never varies gets the width 1.
Vector widths(const Matrix& x) {
  const Vector width = (x.colwise().maxCoeff() - x.colwise().minCoeff()).transpose();
  return (width.array() > 0.0).select(width.array(), 1.0).matrix();
}

Epoch longest(const CurveData& data) {
  std::size_t epochs = 1;
  for (const std::vector<double>& curve : data.curves) epochs = std::max(epochs, curve.size());
  return static_cast<Epoch>(epochs);
}

StudySpec study_over(const CurveData& data, const Vector& low, const Vector& width, const CurveModelOptions& options) {
  std::vector<Param> params;
  for (Eigen::Index i = 0; i < data.x.cols(); ++i) {
    params.push_back({.name = fmt::format("x{}", i),
                      .domain = RealRange{low[i], std::max(low[i] + width[i], data.x.col(i).maxCoeff())}});
  }
  StudySpec spec;
  spec.name = "curves";
  spec.metric.goal = options.goal;
  spec.epochs.max = options.max_epoch > 0 ? options.max_epoch : longest(data);
  spec.budget = {.limit = 1.0, .unit = "epochs", .meter = Meter::epochs};
  spec.seed = options.seed;
  spec.space = Space(std::move(params));
  require(longest(data) <= spec.epochs.max,
          fmt::format("max_epoch = {}, but a curve has {} epochs", spec.epochs.max, longest(data)));
  return spec;
}

void add_curve(History& history, TrialId trial, const Vector& x, const std::vector<double>& curve) {
  TrialStarted start{.trial = trial, .until = history.spec().epochs.max};
  for (Eigen::Index i = 0; i < x.size(); ++i) start.config.values.emplace_back(x[i]);
  history.apply(start);
  Epoch epoch = 0;
  for (const double value : curve) {
    if (!std::isfinite(value)) return history.apply(TrialFailed{.trial = trial, .message = "diverged"});
    history.apply(Measured{.trial = trial, .measurement = {.epoch = ++epoch, .value = value, .cost = 1.0}});
  }
}

History history_of(const CurveData& data, const StudySpec& spec) {
  History history(spec);
  for (std::size_t i = 0; i < data.curves.size(); ++i) {
    const auto row = static_cast<Eigen::Index>(i);
    add_curve(history, TrialId{static_cast<std::int64_t>(i)}, data.x.row(row).transpose(), data.curves[i]);
  }
  return history;
}

Models models_of(const History& history, const CurveModelOptions& options) {
  Rng stream = Rng(options.seed).fork("curve model");
  return fit_models(history, options.model, stream);
}

const CurveData& checked(const CurveData& data) {
  data.validate();
  return data;
}

}  // namespace

void CurveData::validate() const {
  require(!curves.empty(), "there is no curve to learn from");
  require(x.rows() == std::ssize(curves),
          fmt::format("{} configurations, but {} curves; expected one of each", x.rows(), curves.size()));
  require(x.cols() >= 1, "a configuration has no coordinate");
  require(x.allFinite(), "a coordinate of a configuration is not a finite number");
  for (std::size_t i = 0; i < curves.size(); ++i) {
    require(!curves[i].empty(), fmt::format("curve {} has no epoch", i));
  }
}

CurveModel::CurveModel(const CurveData& data, const CurveModelOptions& options)
    : x_(checked(data).x),
      low_(lowest(data.x)),
      width_(widths(data.x)),
      history_(history_of(data, study_over(data, low_, width_, options))),
      models_(models_of(history_, options)) {}

Vector CurveModel::scaled(const Vector& x) const { return ((x - low_).array() / width_.array()).matrix(); }

// Of the data if it is among them, else of none.
int CurveModel::group_of(const Vector& x) const {
  for (Eigen::Index i = 0; i < x_.rows(); ++i) {
    if (x_.row(i).transpose() == x) return static_cast<int>(i);
  }
  return static_cast<int>(x_.rows());
}

CurveCourse CurveModel::predict(const Vector& x, const std::vector<Epoch>& epochs, double level) const {
  require(x.size() == x_.cols(),
          fmt::format("a configuration with {} coordinates; the curves have {}", x.size(), x_.cols()));
  require(x.allFinite(), "a coordinate of a configuration is not a finite number");
  require(level > 0.0 && level < 1.0, fmt::format("level = {}, must be between 0 and 1", level));
  for (const Epoch epoch : epochs) {
    require(epoch >= 1 && epoch <= max_epoch(), fmt::format("epoch {}, must be from 1 to {}", epoch, max_epoch()));
  }
  CurveCourse course;
  if (epochs.empty()) return course;
  const Vector u = scaled(x);
  const int group = group_of(x);
  const MonotoneGp posterior(models_.gp, Constraint::on_slopes(models_.slopes, u, group));
  const Moments moments = posterior.predict(Rows::of_curve(u, epochs, max_epoch(), group));
  const double quantile = normal_quantile(0.5 + 0.5 * level);
  for (Eigen::Index i = 0; i < moments.mean.size(); ++i) {
    const double reach = quantile * std::sqrt(moments.variance[i]);
    const double a = models_.to_user(history_, moments.mean[i] - reach);
    const double b = models_.to_user(history_, moments.mean[i] + reach);
    course.mean.push_back(models_.to_user(history_, moments.mean[i]));
    course.low.push_back(std::min(a, b));
    course.high.push_back(std::max(a, b));
  }
  return course;
}

}  // namespace bapi
