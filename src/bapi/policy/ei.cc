#include "bapi/policy/ei.h"

#include "bapi/policy/full_runs.h"
#include "bapi/policy/option_table.h"

namespace bapi {
namespace {

const OptionTable<EiOptions>& table() {
  static const auto all = OptionTable<EiOptions>().integer_or(
      "initial_runs",
      [](EiOptions & o) -> auto& { return o.design.runs; },
      "auto",
      1,
      1000,
      "runs before the first model, auto: parameters + 1");
  return all;
}

}  // namespace

PolicyInfo ExpectedImprovement::info() {
  return {.name = "ei",
          .summary = "Gaussian process over configurations, full trainings, largest expected improvement",
          .options = table().describe({})};
}

ExpectedImprovement::ExpectedImprovement(const PolicySpec& spec) : options_(table().read(spec, {})) {}

Decision ExpectedImprovement::ask(const History& history, Rng& rng) {
  if (const std::optional<Decision> first = before_model(history, options_.design)) return *first;
  const Evidence evidence(history);
  Rng model_stream = rng.fork("model");
  return largest_improvement(evidence, fit_configurations(evidence, model_stream), options_.design, rng);
}

}  // namespace bapi
