#include "bapi/model/configuration_model.h"

#include <algorithm>
#include <cmath>

#include "bapi/base/error.h"
#include "bapi/gp/fit.h"

namespace bapi {
namespace {

// Hyperparameters are fitted on at most this many rows, evenly taken.
constexpr Eigen::Index kFitRows = 300;

GpParameters structure(Eigen::Index dim) {
  GpParameters parameters;
  parameters.kernel.space = {.kind = SpaceKind::matern52, .lengthscales = Vector::Constant(dim, 0.5)};
  parameters.kernel.time.kind = TimeKind::constant;
  return parameters;
}

std::vector<Eigen::Index> evenly(Eigen::Index n, Eigen::Index most) {
  const Eigen::Index count = std::min(n, most);
  std::vector<Eigen::Index> chosen;
  for (Eigen::Index i = 0; i < count; ++i) chosen.push_back(i * n / count);
  return chosen;
}

// The kind of Gaussian process behind both models, fitted to any standardised values of configurations.
ExactGp fit_over_configurations(const Rows& rows, const Vector& y, Rng& rng) {
  const std::vector<Eigen::Index> subset = evenly(rows.size(), kFitRows);
  const Vector values = y(subset);
  const FitResult fitted =
      bapi::fit(rows.select(subset), values, structure(rows.dim()), {.priors = HyperPriors::for_configurations()}, rng);
  return ExactGp(rows, y, fitted.gp.parameters());
}

}  // namespace

ConfigurationModel ConfigurationModel::fit(const Outcomes& outcomes, const Matrix& pending, Rng& rng) {
  check(outcomes.values.size() > 0, "configuration model: there is nothing to learn from yet");
  const Response response = standardised_response(outcomes.values);
  const ExactGp gp = fit_over_configurations(Rows::at_configurations(outcomes.x), response.y, rng);
  return {
      .gp = gp.with_pending(Rows::at_configurations(pending)), .scale = response.scale, .best = response.y.maxCoeff()};
}

FullRunCost FullRunCost::fit(const Matrix& x, const Vector& costs, Rng& rng) {
  const Vector logs = costs.unaryExpr([](double cost) { return std::log(cost); });
  const Standardization unit = standardization(logs);
  return {.gp = fit_over_configurations(Rows::at_configurations(x), unit.apply(logs), rng), .unit = unit};
}

Cost FullRunCost::median(const Vector& x) const {
  return std::exp(unit.undo(gp.predict(Rows::at_configurations(x.transpose())).mean[0]));
}

}  // namespace bapi
