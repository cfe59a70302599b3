#include "bapi/policy/rivals/top_k.h"

#include <algorithm>

#include "bapi/policy/fresh.h"
#include "bapi/policy/option_table.h"
#include "bapi/policy/rungs.h"

namespace bapi {
namespace {

constexpr const char* kOneEpoch = "one-epoch";

// What a trial cost up to `rung`; for one that failed or ended before, all of it.
Cost cost_up_to(const Trial& trial, Epoch rung) {
  if (trial.curve.last_epoch() < rung) return trial.spent();
  Cost cost = 0.0;
  for (const Measurement& m : trial.curve.up_to(rung)) cost += m.cost;
  return cost;
}

bool on_its_way(const Trial& trial, Epoch rung) { return trial.segment && trial.curve.last_epoch() < rung; }

const OptionTable<TopKOptions>& top_k_table() {
  static const auto all = OptionTable<TopKOptions>()
                              .real(
                                  "epochs",
                                  [](TopKOptions & o) -> auto& { return o.epochs; },
                                  0.0,
                                  1.0,
                                  "share of all epochs that a short trial gets; 0 is one epoch")
                              .real(
                                  "explore",
                                  [](TopKOptions & o) -> auto& { return o.explore; },
                                  0.01,
                                  1.0,
                                  "share of the budget for short trials");
  return all;
}

TopKOptions top_k_preset(const std::string& name) { return {.epochs = name == kOneEpoch ? 0.0 : 0.1}; }

}  // namespace

std::vector<std::string> TopK::presets() { return {"top-k", kOneEpoch}; }

PolicyInfo TopK::info(const std::string& preset) {
  return {.name = preset,
          .summary = preset == kOneEpoch ? "trains many configurations for one epoch, then the best fully"
                                         : "trains many configurations for 10 % of epochs, then the best fully",
          .options = top_k_table().describe(top_k_preset(preset))};
}

TopK::TopK(const PolicySpec& spec) : name_(spec.name), options_(top_k_table().read(spec, top_k_preset(spec.name))) {}

bool TopK::exploring(const History& history, Epoch rung) const {
  Cost spent = 0.0;
  int done = 0;
  int running = 0;
  for (const Trial& trial : history.trials()) {
    if (on_its_way(trial, rung)) {
      ++running;
    } else {
      spent += cost_up_to(trial, rung);
      ++done;
    }
  }
  const Cost mean = done > 0 ? spent / done : 0.0;
  return spent + (running + 1) * mean <= options_.explore * history.budget().plannable();
}

Decision TopK::ask(const History& history, Rng&) {
  const EpochRange epochs = history.spec().epochs;
  const Epoch rung = std::max(epochs.min, share_of(options_.epochs, epochs.max));
  const Trial* best = nullptr;
  for (const Trial& trial : history.trials()) {
    if (!trial.resumable()) continue;
    if (!has_reached(trial, rung)) {  // cut short by a budget that was raised since
      return Resume{.trial = trial.id, .until = rung, .why = {.rule = Rule::finish_begun}};
    }
    if (!best || value_at(trial, rung) > value_at(*best, rung)) best = &trial;
  }
  const bool first_rung = exploring(history, rung);
  if (first_rung || !best) {
    if (const std::optional<Config> config = fresh_config(history)) {
      return Start{.config = *config, .until = rung, .why = {.rule = Rule::short_trial}};
    }
  }
  if (!best) return nothing_to_do(history, kPoolExhausted);
  return Resume{
      .trial = best->id,
      .until = epochs.max,
      .why = {.rule = Rule::best_of_short_trials,
              .standing = RungStanding{.epoch = rung, .value = history.in_user_units(value_at(*best, rung))}}};
}

}  // namespace bapi
