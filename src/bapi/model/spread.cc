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

}  // namespace

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
