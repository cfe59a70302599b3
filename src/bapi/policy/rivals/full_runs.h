#pragma once

#include <optional>

#include "bapi/model/configuration_model.h"
#include "bapi/policy/candidates.h"
#include "bapi/policy/initial_design.h"

namespace bapi {

// What policies have in common that train every run to the end and choose by a model of the configurations.

bool has_finished_trial(const History& history);

// The model of what full runs reach, running trials being pending. Requires has_finished_trial().
ConfigurationModel fit_configurations(const Evidence& evidence, Rng& rng);

// The model of what they cost, from the trials that finished.
FullRunCost fit_full_run_cost(const Evidence& evidence, Rng& rng);

// The budget that is left when the running trials, at their median cost, have finished; never negative.
Cost left_after_running(const Evidence& evidence, const FullRunCost& cost);

// What to do before a model can be fitted: finish a run that the budget once cut short, then the initial design, until
// a run has finished.
std::optional<Decision> before_model(const History& history, const InitialDesign& design);

// The configuration whose expected improvement times its probability of success is largest, to the end; a further run
// of the design if there is none.
Decision largest_improvement(const Evidence& evidence,
                             const ConfigurationModel& model,
                             const InitialDesign& design,
                             Rng& rng);

// Where a search of the cube leads to: the nearest row of the pool that was not tried, or the nearest valid
// configuration.
class NearestUntried {
 public:
  explicit NearestUntried(const History& history);

  // Nothing if the pool has been tried, or that configuration has.
  std::optional<Candidate> nearest(const Vector& x) const;

 private:
  const History& history_;
  std::vector<Candidate> rows_;
  Matrix x_;  // of the rows
};

// What a model says of a full run, for the log.
Forecast forecast_full_run(const History& history, const ConfigurationModel& model, const Vector& x);

}  // namespace bapi
