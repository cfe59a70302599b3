#pragma once

#include <span>

#include "bapi/study/spec.h"

// How long the processes of many workers may run without another word of the leader, so that a budget in seconds holds
// whatever happens to the network. Pure functions; instants are those of the dispatch's clock (study/work.h).
//
// What a process may cost beyond what the log has charged for it is the time from `charged_until` to the end of its
// worker's right. At every instant the sum over all processes is at most what is left of the budget:
//
//   sum of (granted_until - charged_until) <= total - spent
//
// A right that was granted is never taken back, so a process begins only if the sum holds with it.
namespace bapi {

// A process, or an order to begin one.
struct Stake {
  double charged_until = 0.0;  // by facts in the log
  double granted_until = 0.0;  // the end of its worker's right; before `charged_until` if it has none
};

// What the processes may cost with the rights that they have, in seconds.
double staked(std::span<const Stake> stakes);

// The latest instant T such that the sum holds if every right is extended to T: rights beyond T count as they are.
// Infinity without processes; minus infinity if the sum does not hold as it is.
double latest_stop(std::span<const Stake> stakes, double seconds_left);

// For how long a delivery is to renew a lease: `wanted` seconds, less near the end of the budget, so that little is
// tied up in rights that nobody uses.
double lease_for(double wanted, double seconds_left, double seconds_accrued, int processes);

// A worker ends its programs so many seconds, and their grace period, before its right is over.
inline constexpr double kRightMargin = 1.0;

// The shortest right with which a process is begun: something is left between its grace period and the end.
inline double least_right(double grace) { return 2.0 * (grace + kRightMargin); }

}  // namespace bapi
