#include "bapi/model/curve_model.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "bapi/base/error.h"
#include "bapi/model/spread.h"

namespace bapi {
namespace {

double median(std::vector<double> values) {
  const auto middle = values.begin() + std::ssize(values) / 2;
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

// Of the better half of the curves: bad ones may do what they like.
double typical_fluctuation(const std::vector<LearningCurve>& all, const ResponseScale& scale) {
  struct Ranked {
    const LearningCurve* curve;
    double best;
  };
  std::vector<Ranked> curves;
  for (const LearningCurve& curve : all) {
    if (curve.last_epoch() >= 4) curves.push_back({&curve, curve.best()});
  }
  std::stable_sort(curves.begin(), curves.end(), [](const Ranked& a, const Ranked& b) { return a.best > b.best; });
  curves.resize((curves.size() + 1) / 2);
  std::vector<double> each;
  for (const Ranked& ranked : curves) {
    const std::vector<double> raw = ranked.curve->dense();
    Vector values(std::ssize(raw));
    for (std::size_t i = 0; i < raw.size(); ++i) values[static_cast<Eigen::Index>(i)] = scale.apply(raw[i]);
    const double found = bapi::fluctuation(values).value_or(0.0);
    if (std::isfinite(found)) each.push_back(found);
  }
  return each.empty() ? 0.0 : median(std::move(each));
}

// Standardised: the best of what the curves have reached.
double best_reached(const std::vector<CurveSource>& sources, const Response& response, CurveValue counts) {
  if (counts == CurveValue::best) return response.y.maxCoeff();
  double best = -std::numeric_limits<double>::infinity();
  for (const CurveSource& source : sources) best = std::max(best, response.scale.apply(source.last_value()));
  return std::isfinite(best) ? best : response.y.maxCoeff();
}

std::map<CurveId, double> values_reached(const std::vector<CurveSource>& sources, const ResponseScale& scale) {
  std::map<CurveId, double> reached;
  for (const CurveSource& source : sources) reached[source.id] = scale.apply(source.last_value());
  return reached;
}

}  // namespace

CurveModel CurveModel::fit(const std::vector<LearningCurve>& curves,
                           CurveEpochs epochs,
                           const CurveModelOptions& options,
                           Rng& rng) {
  check(!curves.empty(), "curve model: there is nothing to learn from yet");
  const std::vector<CurveSource> sources = curve_sources(curves, options.response, epochs.max);
  FittedCurves fitted = curve_surrogate(options.surrogate).fit(sources, epochs, options, rng);
  const Vector& y = fitted.response.y;
  return {.surrogate = std::move(fitted.surrogate),
          .scale = fitted.response.scale,
          .best = best_reached(sources, fitted.response, options.counts),
          .range = std::max(1e-12, y.maxCoeff() - clip_level(y)),
          .fluctuation = typical_fluctuation(curves, fitted.response.scale),
          .reached = values_reached(sources, fitted.response.scale),
          .worth = options.counts == CurveValue::best ? Worth::best_epoch : Worth::last_epoch,
          .max_epoch = epochs.max,
          .warped = options.warp};
}

std::optional<double> CurveModel::floor_of(CurveId curve, Epoch now) const {
  const auto found = reached.find(curve);
  if (worth == Worth::last_epoch || now <= 0 || found == reached.end()) return std::nullopt;
  return found->second;
}

double CurveModel::measured_sd(double latent_sd, Epoch now, Epoch then) const {
  return spread_factor(now, then) * std::sqrt(latent_sd * latent_sd + surrogate->noise());
}

ErrorLaw CurveModel::errors(Epoch now) const { return value_errors(now, warped); }

}  // namespace bapi
