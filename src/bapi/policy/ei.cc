#include "bapi/policy/ei.h"

#include "bapi/policy/full_runs.h"
#include "bapi/policy/options.h"

namespace bapi {

PolicyInfo ExpectedImprovement::info() {
  return {.name = "ei",
          .summary = "Gaussian process over configurations, full runs, largest expected improvement",
          .options = {{"initial_runs", "auto", "runs before the first model; auto (parameters + 1) or 1 to 1000"}}};
}

ExpectedImprovement::ExpectedImprovement(const PolicySpec& spec) {
  const OptionReader options(spec, info());
  design_.runs = options.integer_or("initial_runs", "auto", 1, 1000).value_or(0);
}

Decision ExpectedImprovement::ask(const History& history, Rng& rng) {
  if (const std::optional<Decision> first = before_model(history, design_)) return *first;
  Rng model_stream = rng.fork("model");
  return largest_improvement(history, fit_configurations(history, model_stream), design_, rng);
}

}  // namespace bapi
