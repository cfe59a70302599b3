#include "bapi/planner/conservative_stop.h"

#include <fmt/core.h>

#include <algorithm>
#include <numeric>
#include <vector>

#include "bapi/base/error.h"

namespace bapi {

void StopRule::validate() const {
  require(epsilon >= 0.0, fmt::format("stop.epsilon = {}, must not be negative", epsilon));
  require(min_epoch >= 1 && min_epoch <= max_epoch,
          fmt::format("stop: epochs from {} to {}, must be at least 1 and in order", min_epoch, max_epoch));
}

Epoch conservative_stop(const std::function<double(Epoch)>& mean, const StopRule& rule) {
  rule.validate();
  const double final_mean = mean(rule.max_epoch);
  Epoch low = rule.min_epoch;
  Epoch high = rule.max_epoch;
  while (low < high) {
    const Epoch middle = low + (high - low) / 2;
    if (final_mean - mean(middle) <= rule.epsilon) {
      high = middle;
    } else {
      low = middle + 1;
    }
  }
  return low;
}

Epoch conservative_stop_by_scan(const Vector& means, const StopRule& rule) {
  rule.validate();
  check(means.size() == rule.max_epoch - rule.min_epoch + 1, "conservative stop: means for another range of epochs");
  const double highest = means.maxCoeff();
  double reached = means[0];
  for (Eigen::Index i = 0; i < means.size(); ++i) {
    reached = std::max(reached, means[i]);
    if (highest - reached <= rule.epsilon) return rule.min_epoch + static_cast<Epoch>(i);
  }
  return rule.max_epoch;
}

Vector curve_means(
    const CurvePosterior& posterior, const Vector& x, CurveId group, Epoch first, Epoch last, Epoch max_epoch) {
  std::vector<Epoch> epochs(static_cast<std::size_t>(last - first + 1));
  std::iota(epochs.begin(), epochs.end(), first);
  return posterior.mean(Rows::of_curve(x, epochs, max_epoch, group));
}

Epoch conservative_stop(const CurvePosterior& posterior, const Vector& x, CurveId group, const StopRule& rule) {
  rule.validate();
  if (rule.max_epoch - rule.min_epoch < kScanEpochs) {
    return conservative_stop_by_scan(curve_means(posterior, x, group, rule.min_epoch, rule.max_epoch, rule.max_epoch),
                                     rule);
  }
  return conservative_stop(
      [&](Epoch epoch) { return curve_means(posterior, x, group, epoch, epoch, rule.max_epoch)[0]; }, rule);
}

}  // namespace bapi
