#include "bapi/policy/initial_design.h"

#include <algorithm>

#include "bapi/policy/fresh.h"
#include "bapi/policy/rungs.h"

namespace bapi {

bool InitialDesign::unfinished(const History& history) const {
  const int wanted = runs > 0 ? runs : history.spec().space.unit_dim() + 1;
  const Budget budget = history.budget();
  const bool affordable = budget.spent() + budget.committed() < budget_share * budget.total();
  return (std::ssize(history.trials()) < wanted && affordable) || history.trials().empty();
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
