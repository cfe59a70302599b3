#include "bapi/policy/models.h"

#include <algorithm>
#include <numeric>

#include "bapi/model/curve_costs.h"
#include "bapi/policy/earlier_evidence.h"
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

// A trial that counts by its last epoch may become worse: its curve is no running maximum.
CurveModelOptions curve_options(const Metric& metric, CurveModelOptions options) {
  if (metric.of == ValueOf::best) return options;
  options.response = ResponseKind::raw;
  options.monotone = Monotonicity::off;
  options.counts = CurveValue::last;
  return options;
}

}  // namespace

void Models::tell_in_metric(Reason& why) const {
  const double log_unit = score_in_metric(scale, best, 0.0).log;
  why.score = Score{.log = why.score->log + log_unit, .unit = ScoreUnit::metric};
  if (why.rival) why.rival->log_score += log_unit;
}

Prognosis Models::law_from(const CurveAt& at, Epoch first) const {
  std::vector<Epoch> epochs(static_cast<std::size_t>(max_epoch - first + 1));
  std::iota(epochs.begin(), epochs.end(), first);
  return prognosis_of(*this, *surrogate, at, epochs, reached_variance);
}

Models fit_models(const Evidence& evidence, const ModelOptions& options, Rng& rng) {
  CurveModelOptions curves = curve_options(evidence.spec().metric, options.curves);
  if (options.earlier_curves) curves.trends = earlier_trends(evidence.spec());
  curves.bounds = evidence.bounds();
  Models models{CurveModel::fit(evidence.curves(), evidence.epochs(), curves, rng), fit_cost(evidence, options, rng)};
  const double noise = models.surrogate->noise();
  models.reached_variance = options.reached == Reached::known ? std::min(models.fluctuation, noise) : noise;
  return models;
}

}  // namespace bapi
