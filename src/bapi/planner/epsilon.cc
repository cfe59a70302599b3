#include "bapi/planner/epsilon.h"

#include <algorithm>
#include <limits>

namespace bapi {

namespace {

constexpr double kFloorShare = 1e-3;
constexpr double kFallbackShare = 1e-2;

double range_of_values(const std::vector<std::vector<CurvePoint>>& curves) {
  double low = std::numeric_limits<double>::infinity();
  double high = -low;
  for (const auto& curve : curves) {
    for (const CurvePoint& point : curve) {
      low = std::min(low, point.value);
      high = std::max(high, point.value);
    }
  }
  return high > low ? high - low : 0.0;
}

}  // namespace

std::optional<double> observed_epsilon(const std::vector<std::vector<CurvePoint>>& curves,
                                       Epoch max_epoch,
                                       double floor) {
  std::optional<double> smallest;
  for (const auto& curve : curves) {
    const auto last =
        std::find_if(curve.begin(), curve.end(), [&](const CurvePoint& p) { return p.epoch == max_epoch; });
    if (last == curve.end()) continue;
    for (const CurvePoint& point : curve) {
      const double gain = last->value - point.value;
      if (point.epoch < max_epoch && gain > 0.0) smallest = std::min(smallest.value_or(gain), gain);
    }
  }
  if (smallest) smallest = std::max(*smallest, floor);
  return smallest;
}

double automatic_epsilon(const std::vector<std::vector<CurvePoint>>& curves, Epoch max_epoch) {
  const double range = range_of_values(curves);
  return observed_epsilon(curves, max_epoch, kFloorShare * range).value_or(kFallbackShare * range);
}

}  // namespace bapi
