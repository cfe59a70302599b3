#pragma once

#include <string>

#include "bapi/policy/decision.h"
#include "bapi/study/history.h"

namespace bapi {

// Whether a trial stands at `epoch` or beyond; one whose program ended by itself stands wherever it could have got to.
bool has_reached(const Trial& trial, Epoch epoch);

// The value at a rung's epoch, not the best up to it; a program that ended by itself before stands at its last value.
double value_at(const Trial& trial, Epoch epoch);

// `share` of max_epoch, rounded up, from 1 to max_epoch.
Epoch share_of(double share, Epoch max_epoch);

// Wait while something runs, otherwise Finish with the reason.
Decision nothing_to_do(const History& history, std::string reason);

}  // namespace bapi
