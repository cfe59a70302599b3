#pragma once

#include "bapi/math/types.h"

namespace bapi {

// The prior of a trend's weight w >= 0: exp(-rate w - w^2 / (2 sd^2)), up to a constant. Its peak at 0 keeps the weight
// of a trend that explains the data by chance at exactly 0: with few data every other unrelated trend would explain a
// little. Where the data follow a trend, the likelihood is steeper by far, and the prior hardly matters.
inline constexpr double kTrendRate = 2.5;

inline double trend_log_prior(const Vector& weights, double sd) {
  return -kTrendRate * weights.sum() - 0.5 * weights.squaredNorm() / (sd * sd);
}

}  // namespace bapi
