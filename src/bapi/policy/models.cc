#include "bapi/policy/models.h"

#include "bapi/model/curve_costs.h"
#include "bapi/policy/forecasts.h"

namespace bapi {
namespace {

CostModel fit_cost(const Evidence& evidence, const ModelOptions& options, const Rng& rng) {
  CostOptions cost;
  cost.form = options.cost;
  Rng stream = rng.fork("cost");
  const int dim = evidence.spec().space.encoded_dim();
  return CostModel::fit(
      curve_costs(evidence.curves(), dim, options.cost_trials), dim, evidence.epochs().max, cost, stream);
}

}  // namespace

void Models::tell_in_metric(Reason& why) const {
  const double log_unit = score_in_metric(scale, best, 0.0).log;
  why.score = Score{.log = why.score->log + log_unit, .unit = ScoreUnit::metric};
  if (why.rival) why.rival->log_score += log_unit;
}

Models fit_models(const Evidence& evidence, const ModelOptions& options, Rng& rng) {
  return {CurveModel::fit(evidence.curves(), evidence.epochs(), options.curves, rng), fit_cost(evidence, options, rng)};
}

}  // namespace bapi
