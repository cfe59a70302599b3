#include "bapi/policy/initial_design.h"

#include <algorithm>
#include <optional>

#include "bapi/policy/fresh.h"
#include "bapi/policy/rungs.h"

namespace bapi {

namespace {

// The mean over all epochs so far; known beforehand where epochs are counted.
std::optional<Cost> epoch_cost(const History& history) {
  if (history.spec().budget.meter == Meter::epochs) return 1.0;
  Cost spent = 0.0;
  double epochs = 0.0;
  for (const Trial& trial : history.trials()) {
    spent += trial.curve.spent();
    epochs += trial.curve.last_epoch();
  }
  if (epochs == 0.0) return std::nullopt;
  return spent / epochs;
}

// What running trials will still cost, none less than its epochs at `per_epoch`.
Cost still_to_pay(const History& history, Cost per_epoch) {
  Cost sum = 0.0;
  for (const Trial& trial : history.trials()) {
    if (!trial.segment_open) continue;
    const Epoch left = std::max(0, trial.until - trial.curve.last_epoch());
    sum += std::max(trial.segment_expected - trial.segment_spent, per_epoch * left);
  }
  return sum;
}

}  // namespace

bool InitialDesign::unfinished(const History& history) const {
  if (history.trials().empty()) return true;
  const int wanted = runs > 0 ? runs : history.spec().space.unit_dim() + 1;
  return std::ssize(history.trials()) < wanted && fits_its_share(history);
}

bool InitialDesign::fits_its_share(const History& history) const {
  const Budget budget = history.budget();
  const Cost share = budget_share * budget.total();
  if (budget.spent() + budget.committed() >= share) return false;
  if (budget_share >= 1.0) return true;  // the budget itself ends the runs
  const std::optional<Cost> per_epoch = epoch_cost(history);
  if (!per_epoch) return history.open_segments() < history.spec().workers;
  return budget.spent() + still_to_pay(history, *per_epoch) < share;
}

Epoch InitialDesign::first_rung(const StudySpec& spec) const {
  return std::max(spec.epochs.min, share_of(epochs, spec.epochs.max));
}

Decision InitialDesign::next(const History& history) const {
  const std::optional<Config> config = fresh_config(history);
  if (!config) return nothing_to_do(history, kPoolExhausted);
  const bool full = std::ssize(history.trials()) < full_runs;
  return Start{.config = *config,
               .until = full ? history.spec().epochs.max : first_rung(history.spec()),
               .expected_cost = 0.0,
               .why = {.rule = kInitialDesign, .numbers = {{"run", static_cast<double>(history.trials().size())}}}};
}

}  // namespace bapi
