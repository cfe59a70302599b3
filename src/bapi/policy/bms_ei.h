#pragma once

#include "bapi/policy/configuration_model.h"
#include "bapi/policy/full_run_cost.h"
#include "bapi/policy/initial_design.h"
#include "bapi/policy/registry.h"

namespace bapi {

// Budgeted multi-step expected improvement: as "ms-ei", but every step of the look-ahead counts only as far as its
// cost, predicted by a second Gaussian process, fits what is left of a small budget of its own. That budget is sized by
// playing a few steps of a cheaper policy and then spent down until the next of them would not fit any more. All runs
// are full ones.
class BudgetedMultiStep : public Policy {
 public:
  static PolicyInfo info();
  explicit BudgetedMultiStep(const PolicySpec& spec);

  std::string_view name() const override { return "bms-ei"; }
  Decision ask(const History& history, Rng& rng) override;

 private:
  InitialDesign design_{.epochs = 1.0};
  int steps_ = 4;
  bool tree_ = false;  // several fantasies per step instead of one at the mean
  int starts_ = 20;
};

// What remains of a schedule when `paid` is taken off; nothing if that is not more than `smallest`.
std::optional<BudgetSchedule> after(const BudgetSchedule& schedule, Cost paid);

// The schedule that the last run was chosen by, less what that run costs; nothing if there is none to go on with.
std::optional<BudgetSchedule> continued_schedule(const History& history, const FullRunCost& cost);

// A new one: the costs of `steps` imagined runs of expected improvement per cost, cooled by the share of the study's
// budget that would be left, each observed at random as the models predict. Not above `left`.
BudgetSchedule new_schedule(
    const ConfigurationModel& model, const FullRunCost& cost, int steps, Cost total, Cost left, Rng& rng);

}  // namespace bapi
