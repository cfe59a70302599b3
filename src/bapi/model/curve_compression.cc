#include "bapi/model/curve_compression.h"

#include <cmath>

#include "bapi/base/error.h"

namespace bapi {
namespace {

constexpr double kEnd = 6.0;  // of the axis

double axis(int epoch, Epoch max_epoch) { return max_epoch == 1 ? kEnd : -kEnd + 2.0 * kEnd * epoch / (max_epoch - 1); }

}  // namespace

double CurveWeights::at(int epoch, Epoch max_epoch) const {
  return 1.0 / (1.0 + std::exp(-growth * (axis(epoch, max_epoch) - middle)));
}

CompressedCurve compressed(std::span<const double> curve, const CurveWeights& weights, Epoch max_epoch) {
  check(!curve.empty() && std::ssize(curve) <= max_epoch, "compression: the curve has no or too many values");
  const auto n = static_cast<int>(curve.size());
  const int cut = static_cast<int>(std::floor((weights.middle + 4.0) * n / 12.0));
  CompressedCurve result;
  for (int i = cut; i < n; ++i) {
    const double value = curve[static_cast<std::size_t>(i)];
    const double weight = weights.at(i, max_epoch);
    const double slope = value * weight * (1.0 - weight);
    result.score += value * weight;
    result.middle_slope -= slope * weights.growth;
    result.growth_slope += slope * (axis(i, max_epoch) - weights.middle);
  }
  const double count = n - cut;
  return {result.score / count, result.middle_slope / count, result.growth_slope / count};
}

}  // namespace bapi
