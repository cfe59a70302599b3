#pragma once

#include "bapi/gp/exact_gp.h"
#include "bapi/gp/response.h"
#include "bapi/study/history.h"

namespace bapi {

// What full runs are believed to reach, as a function of the configuration alone: the model of policies that train
// everything to the end.
struct ConfigurationModel {
  ExactGp gp;           // rows: finished and failed trials, then running ones; standardised values
  ResponseScale scale;  // of the values (to be maximised)
  double best = 0.0;    // best observed value, standardised
};

// Fitted to the trials that are finished, by what they left: the best of their epochs. Failed trials count as the worst
// of the others. Running ones stand at their expected value, so that the search looks elsewhere meanwhile.
// Deterministic given the stream. Requires has_finished_trial().
ConfigurationModel fit_configurations(const History& history, Rng& rng);

// The kind of Gaussian process behind it, fitted to any standardised values of configurations.
ExactGp fit_over_configurations(const Rows& rows, const Vector& y, Rng& rng);

bool has_finished_trial(const History& history);

}  // namespace bapi
