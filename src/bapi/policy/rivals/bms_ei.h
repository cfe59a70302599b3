#pragma once

#include "bapi/policy/initial_design.h"
#include "bapi/policy/registry.h"
#include "bapi/policy/rivals/full_runs.h"

namespace bapi {

struct BudgetedMultiStepOptions {
  InitialDesign design{.epochs = 1.0};
  int steps = 4;
  bool tree = false;  // several fantasies per step instead of one at the mean
  int starts = 20;
};

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
  BudgetedMultiStepOptions options_;
};

// What remains of a schedule when `paid` is taken off; nothing if that is not more than `smallest`.
std::optional<BudgetSchedule> after(const BudgetSchedule& schedule, Cost paid);

// The schedule that the last run was chosen by, less what that run costs; nothing if there is none to go on with.
std::optional<BudgetSchedule> continued_schedule(const Evidence& evidence, const FullRunCost& cost);

// A new one: the costs of `steps` imagined runs of expected improvement per cost, cooled by the share of the study's
// budget that would be left, each observed at random as the models predict. Not above `left`.
struct ScheduleRequest {
  int steps = 4;
  Cost total = 0.0;  // budget of the study
  Cost left = 0.0;   // of it
};
BudgetSchedule new_schedule(const ConfigurationModel& model,
                            const FullRunCost& cost,
                            const ScheduleRequest& request,
                            Rng& rng);

}  // namespace bapi
