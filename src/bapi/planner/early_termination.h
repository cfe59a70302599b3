#pragma once

#include "bapi/base/units.h"
#include "bapi/gp/surrogate.h"
#include "bapi/planner/conservative_stop.h"

namespace bapi {

struct TerminationOptions {
  // The prediction is trusted when its standard deviation is at most this many times the one at the last epoch seen.
  double kappa = 2.0;

  void validate() const;
};

// mean_at_stop <= best, and sd_at_stop <= kappa sd_now: it will not beat the best, and we know enough to say so.
bool should_terminate(double mean_at_stop, double sd_at_stop, double sd_now, double best, double kappa);

struct TerminationCheck {
  Epoch stop = 0;  // conservative stop with what is known now, not before the current epoch
  double mean_at_stop = 0.0;
  double sd_at_stop = 0.0;
  double sd_now = 0.0;
  double best = 0.0;
  bool terminate = false;
  double log_probability = 0.0;  // of the constraint given the data; see kContradictionLogProbability
};

// Whether the training of a curve should end early. `posterior` is that of the curve, whose epochs so far must be in
// the model. rule.min_epoch is raised to what has been trained.
//
// Deviations are those of observations. The paper's are of the latent curve, which is tiny at an observed epoch, so
// that its rule rarely acts; with the noise added on both sides it acts on bad configurations three times as often and
// on good ones no more often.
TerminationCheck check_termination(const CurvePosterior& posterior,
                                   const CurveAt& curve,
                                   double best,
                                   StopRule rule,
                                   const TerminationOptions& options = {});

// Where a run at epoch `now` with conservative stop `stop` is looked at next: after `block` epochs or at its stop.
// Never behind `now`; equal to `now` when the run is finished.
Epoch next_check(Epoch now, Epoch stop, Epoch block);

}  // namespace bapi
