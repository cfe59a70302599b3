#include "bapi/model/expectations.h"

#include <cmath>
#include <limits>
#include <map>

#include "bapi/base/error.h"

namespace bapi {
namespace {

struct LastPoint {
  Epoch epoch = 0;
  double value = 0.0;
};

std::map<CurveId, LastPoint> last_points(const Surrogate& model) {
  std::map<CurveId, LastPoint> last;
  const Rows& rows = model.rows();
  for (Eigen::Index i = 0; i < rows.size(); ++i) {
    const auto at = static_cast<std::size_t>(i);
    LastPoint& point = last[rows.group[at]];
    if (rows.epoch[at] >= point.epoch) point = {.epoch = rows.epoch[at], .value = model.y()[i]};
  }
  return last;
}

// Of f itself, without what an observation adds.
Moments latent_moments(const CurveSurrogate& model,
                       const std::vector<CurveAt>& curves,
                       const std::vector<Epoch>& epochs,
                       Epoch max_epoch,
                       double reached_variance) {
  const std::map<CurveId, LastPoint> last = last_points(model);
  std::vector<Eigen::Index> others;
  std::vector<Eigen::Index> begun;
  std::vector<Epoch> now;
  std::vector<double> values;
  for (std::size_t i = 0; i < curves.size(); ++i) {
    const auto found = last.find(curves[i].group);
    if (found == last.end() || found->second.epoch != curves[i].done) {
      others.push_back(static_cast<Eigen::Index>(i));
      continue;
    }
    begun.push_back(static_cast<Eigen::Index>(i));
    now.push_back(found->second.epoch);
    values.push_back(found->second.value);
  }
  const auto rows_of = [&](const std::vector<Eigen::Index>& which, const std::vector<Epoch>& at) {
    Matrix x(std::ssize(which), which.empty() ? 0 : curves.front().x.size());
    std::vector<CurveId> groups;
    for (std::size_t k = 0; k < which.size(); ++k) {
      const CurveAt& curve = curves[static_cast<std::size_t>(which[k])];
      x.row(static_cast<Eigen::Index>(k)) = curve.x.transpose();
      groups.push_back(curve.group);
    }
    return Rows::at_epochs(std::move(x), at, max_epoch, std::move(groups));
  };
  const auto then = [&](const std::vector<Eigen::Index>& which) {
    std::vector<Epoch> at;
    for (const Eigen::Index i : which) at.push_back(epochs[static_cast<std::size_t>(i)]);
    return rows_of(which, at);
  };
  Moments all{.mean = Vector(std::ssize(curves)), .variance = Vector(std::ssize(curves))};
  const auto fill = [&](const std::vector<Eigen::Index>& which, const Moments& moments) {
    all.mean(which) = moments.mean;
    all.variance(which) = moments.variance;
  };
  if (!others.empty()) fill(others, model.predict(then(others)));
  if (!begun.empty()) {
    const Eigen::Map<const Vector> reached(values.data(), std::ssize(values));
    fill(begun, model.continuation(rows_of(begun, now), reached, reached_variance, then(begun)));
  }
  return all;
}

double floor_or_none(const CurveModel& model, const CurveAt& at) {
  return model.floor_of(at.group, at.done).value_or(-std::numeric_limits<double>::infinity());
}

}  // namespace

Expectations expectations(const CurveModel& model,
                          const CurveSurrogate& curves,
                          const std::vector<CurveAt>& at,
                          const std::vector<Epoch>& epochs,
                          double reached_variance) {
  check(at.size() == epochs.size(), "expectations: one epoch for each curve");
  const Moments latent = latent_moments(curves, at, epochs, model.max_epoch, reached_variance);
  Expectations expected{
      .mean = latent.mean, .latent_sd = latent.variance.cwiseSqrt(), .sd = Vector(latent.mean.size())};
  for (Eigen::Index i = 0; i < expected.sd.size(); ++i) {
    const auto k = static_cast<std::size_t>(i);
    expected.sd[i] = model.measured_sd(expected.latent_sd[i], at[k].done, epochs[k]);
  }
  return expected;
}

Prognosis law_of(
    const CurveModel& model, const Expectations& expected, Eigen::Index i, const CurveAt& at, Epoch epoch) {
  return Prognosis({.epochs = {epoch},
                    .mean = expected.mean.segment(i, 1),
                    .sd = expected.sd.segment(i, 1),
                    .reached = floor_or_none(model, at),
                    .errors = model.errors(at.done)},
                   model.scale,
                   model.worth);
}

Prognosis prognosis_of(const CurveModel& model,
                       const CurveSurrogate& curves,
                       const CurveAt& at,
                       const std::vector<Epoch>& epochs,
                       double reached_variance) {
  const std::vector<CurveAt> same(epochs.size(), at);
  const Expectations expected = expectations(model, curves, same, epochs, reached_variance);
  return Prognosis({.epochs = epochs,
                    .mean = expected.mean,
                    .sd = expected.sd,
                    .reached = floor_or_none(model, at),
                    .errors = model.errors(at.done)},
                   model.scale,
                   model.worth);
}

}  // namespace bapi
