#include "bapi/policy/rivals/ei.h"

#include "bapi/policy/option_table.h"
#include "bapi/policy/rivals/full_runs.h"
#include "bapi/policy/shared_options.h"

namespace bapi {
namespace {

const OptionTable<EiOptions>& ei_table() {
  static const auto all = OptionTable<EiOptions>().part(
      initial_runs_option(), [](EiOptions & o) -> auto& { return o.design; });
  return all;
}

}  // namespace

PolicyInfo ExpectedImprovement::info() {
  return {.name = "ei",
          .summary = "trains the largest expected improvement to the last epoch",
          .options = ei_table().describe({})};
}

ExpectedImprovement::ExpectedImprovement(const PolicySpec& spec) : options_(ei_table().read(spec, {})) {}

Decision ExpectedImprovement::ask(const History& history, Rng& rng) {
  if (const std::optional<Decision> first = before_model(history, options_.design)) return *first;
  const Evidence evidence(history);
  Rng model_stream = rng.fork("model");
  return largest_improvement(evidence, fit_configurations(evidence, model_stream), options_.design, rng);
}

}  // namespace bapi
