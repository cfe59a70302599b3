#include "bapi/model/spread.h"

#include <array>
#include <cmath>

namespace bapi {
namespace {

constexpr double kNew = 1.5;

// By the share of the epochs that have been trained; in between on the straight line over the logarithm of the share.
struct Knot {
  double share;
  double factor;
};
constexpr std::array kKnots = {Knot{0.1, 2.8}, Knot{0.2, 2.6}, Knot{0.4, 2.1}, Knot{0.8, 1.25}};

constexpr ErrorLaw kErrorsOfNew{.shift = 0.04, .scale = 0.75, .tail = 1.20};
constexpr ErrorLaw kErrorsOfTrained{.shift = 0.10, .scale = 0.69, .tail = 1.54};

// Without the warp: learned from the decisions of bapi-4.
constexpr ErrorLaw kPlainErrorsOfNew{.shift = -0.04, .scale = 0.31, .tail = 1.60};
constexpr ErrorLaw kPlainErrorsOfTrained{.shift = -0.33, .scale = 0.32, .tail = 1.60};

}  // namespace

ErrorLaw value_errors(Epoch now, bool warped) {
  if (!warped) return now > 0 ? kPlainErrorsOfTrained : kPlainErrorsOfNew;
  return now > 0 ? kErrorsOfTrained : kErrorsOfNew;
}

double spread_factor(Epoch now, Epoch then) {
  if (now <= 0) return kNew;
  const double share = static_cast<double>(now) / static_cast<double>(then);
  if (share <= kKnots.front().share) return kKnots.front().factor;
  for (std::size_t k = 1; k < kKnots.size(); ++k) {
    if (share > kKnots[k].share) continue;
    const Knot& low = kKnots[k - 1];
    const Knot& high = kKnots[k];
    const double part = std::log(share / low.share) / std::log(high.share / low.share);
    return std::lerp(low.factor, high.factor, part);
  }
  return kKnots.back().factor;
}

}  // namespace bapi
