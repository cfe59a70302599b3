#pragma once

#include <optional>
#include <string>

#include "bapi/policy/decision.h"
#include "bapi/study/history.h"

namespace bapi {

// Of policies that halve: one in eta goes on at each rung.
struct HalvingOptions {
  int eta = 3;
  std::optional<Epoch> min_epoch = {};  // of the lowest rung; default: the study's
};

// Whether a trial stands at `epoch` or beyond; one whose program ended by itself stands wherever it could have got to.
bool has_reached(const Trial& trial, Epoch epoch);

// The value at a rung's epoch, not the best up to it; a program that ended by itself before, or did not report that
// epoch, stands at its last value before (the first one after, if there is none).
double value_at(const Trial& trial, Epoch epoch);

// `share` of max_epoch, rounded up, from 1 to max_epoch.
Epoch share_of(double share, Epoch max_epoch);

// The rung after `done` epochs: `first` to begin with, then `ratio` times as many, at least one more; at most
// max_epoch.
Epoch next_rung(Epoch done, Epoch first, double ratio, Epoch max_epoch);

// Whether the values up to `epoch` of the trials that have reached it say which of them are better: the best is ahead
// of the median by more than values fluctuate, or a curve has risen by more than that. If not, nothing has begun to
// learn yet, and ranks are luck. True of fewer than two trials, and of curves of fewer than four values, whose
// fluctuation cannot be told. False in any case once trials that were trained twice as far have come apart by several
// times the lead that the best has at `epoch`: there it was luck, too.
bool tells_apart(const History& history, Epoch epoch);

// Wait while something runs, otherwise Finish with the reason.
Decision nothing_to_do(const History& history, std::string reason);

}  // namespace bapi
