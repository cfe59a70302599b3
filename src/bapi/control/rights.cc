#include "bapi/control/rights.h"

#include <algorithm>
#include <limits>
#include <vector>

namespace bapi {
namespace {

double end_of(const Stake& stake) { return std::max(stake.charged_until, stake.granted_until); }

}  // namespace

double staked(std::span<const Stake> stakes) {
  double seconds = 0.0;
  for (const Stake& stake : stakes) seconds += end_of(stake) - stake.charged_until;
  return seconds;
}

// Fills up from the right that ends first, as water does.
double latest_stop(std::span<const Stake> stakes, double seconds_left) {
  if (stakes.empty()) return std::numeric_limits<double>::infinity();
  double left = seconds_left - staked(stakes);
  if (left < 0.0) return -std::numeric_limits<double>::infinity();
  std::vector<double> ends;
  for (const Stake& stake : stakes) ends.push_back(end_of(stake));
  std::ranges::sort(ends);
  double stop = ends.front();
  for (std::size_t raised = 1; raised < ends.size(); ++raised) {
    const double step = ends[raised] - stop;
    const auto processes = static_cast<double>(raised);
    if (step * processes > left) return stop + left / processes;
    left -= step * processes;
    stop = ends[raised];
  }
  return stop + left / static_cast<double>(ends.size());
}

double lease_for(double wanted, double seconds_left, double seconds_accrued, int processes) {
  const double half = 0.5 * (seconds_left - seconds_accrued) / (processes + 1);
  return std::min(wanted, std::max(kShortestLease, half));
}

}  // namespace bapi
