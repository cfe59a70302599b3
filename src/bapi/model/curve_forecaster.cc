#include "bapi/model/curve_forecaster.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "bapi/base/error.h"
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

const CurveData& checked(const CurveData& data) {
  data.validate();
  return data;
}

Epoch last_epoch(const CurveData& data, Epoch wanted) {
  const Epoch last = wanted > 0 ? wanted : longest(data);
  require(longest(data) <= last, fmt::format("max_epoch = {}, but a curve has {} epochs", last, longest(data)));
  return last;
}

LearningCurve learning_curve(const std::vector<double>& values, double sign) {
  LearningCurve curve;
  for (const double value : values) {
    if (!std::isfinite(value)) {
      curve.fate = CurveFate::failed;
      break;
    }
    curve.values.push_back(sign * value);
  }
  return curve;
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

CurveForecaster::CurveForecaster(const CurveData& data, const CurveForecasterOptions& options)
    : x_(checked(data).x),
      low_(lowest(data.x)),
      width_(widths(data.x)),
      max_epoch_(last_epoch(data, options.max_epoch)),
      sign_(options.goal == CurveGoal::maximize ? 1.0 : -1.0) {
  std::vector<LearningCurve> curves;
  for (std::size_t i = 0; i < data.curves.size(); ++i) {
    LearningCurve curve = learning_curve(data.curves[i], sign_);
    curve.id = static_cast<CurveId>(i);
    curve.x = scaled(data.x.row(static_cast<Eigen::Index>(i)).transpose());
    curves.push_back(std::move(curve));
  }
  require(std::any_of(curves.begin(), curves.end(), [](const LearningCurve& curve) { return !curve.values.empty(); }),
          "no curve begins with a finite value: there is nothing to learn from");
  Rng stream = Rng(options.seed).fork("curve model");
  model_ = CurveModel::fit(curves, {.min = 1, .max = max_epoch_}, options.model, stream);
}

Vector CurveForecaster::scaled(const Vector& x) const { return ((x - low_).array() / width_.array()).matrix(); }

// Of the data if it is among them, else of none.
CurveId CurveForecaster::group_of(const Vector& x) const {
  for (Eigen::Index i = 0; i < x_.rows(); ++i) {
    if (x_.row(i).transpose() == x) return static_cast<CurveId>(i);
  }
  return static_cast<CurveId>(x_.rows());
}

CurveCourse CurveForecaster::predict(const Vector& x, const std::vector<Epoch>& epochs, double level) const {
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
  const CurveId group = group_of(x);
  const Moments moments = model_.surrogate->curve(u, group)->predict(Rows::of_curve(u, epochs, max_epoch(), group));
  const double quantile = normal_quantile(0.5 + 0.5 * level);
  for (Eigen::Index i = 0; i < moments.mean.size(); ++i) {
    const double reach = quantile * std::sqrt(moments.variance[i]);
    const double a = in_user_units(moments.mean[i] - reach);
    const double b = in_user_units(moments.mean[i] + reach);
    course.mean.push_back(in_user_units(moments.mean[i]));
    course.low.push_back(std::min(a, b));
    course.high.push_back(std::max(a, b));
  }
  return course;
}

}  // namespace bapi
