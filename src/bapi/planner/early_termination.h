#pragma once

#include "bapi/base/units.h"
#include "bapi/gp/monotone_gp.h"
#include "bapi/planner/conservative_stop.h"

namespace bapi {

// Which standard deviation the test compares. The paper's is that of the latent curve, which is tiny at an observed
// epoch, so that its rule rarely acts; with the noise added on both sides it acts on bad configurations three times as
// often and on good ones no more often.
enum class TerminationSpread { latent, with_noise };

struct TerminationOptions {
  // The prediction is trusted when its standard deviation is at most this many times the one at the last epoch seen.
  double kappa = 2.0;
  TerminationSpread spread = TerminationSpread::with_noise;

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

// Whether the run of x, trained to `now`, should end early. The curve so far must already be in the model.
// rule.min_epoch is raised to `now`.
TerminationCheck check_termination(const ExactGp& gp,
                                   const SlopeConstraint& slopes,
                                   const Vector& x,
                                   int group,
                                   Epoch now,
                                   double best,
                                   StopRule rule,
                                   const TerminationOptions& options = {});

// Where a run at epoch `now` with conservative stop `stop` is looked at next: after `block` epochs or at its stop.
// Never behind `now`; equal to `now` when the run is finished.
Epoch next_check(Epoch now, Epoch stop, Epoch block);

// A fifth of all epochs, at least one.
Epoch default_block(Epoch max_epoch);

}  // namespace bapi
