#include "bapi/policy/shared_options.h"

namespace bapi {

const OptionTable<HalvingOptions>& halving_options() {
  static const auto all = OptionTable<HalvingOptions>()
                              .integer(
                                  "eta",
                                  [](HalvingOptions & o) -> auto& { return o.eta; },
                                  2,
                                  10,
                                  "one trial in eta continues at each rung")
                              .integer_or(
                                  "min_epochs",
                                  [](HalvingOptions & o) -> auto& { return o.min_epoch; },
                                  "epochs.min",
                                  1,
                                  kUnbounded,
                                  "fewest epochs of the lowest rung");
  return all;
}

const OptionTable<InitialDesign>& initial_runs_option() {
  static const auto all = OptionTable<InitialDesign>().integer_or(
      "initial_runs",
      [](InitialDesign & o) -> auto& { return o.runs; },
      "auto",
      1,
      1000,
      "trials before the first model; auto: number of parameters + 1");
  return all;
}

}  // namespace bapi
