#pragma once

#include <functional>

#include "bapi/base/units.h"
#include "bapi/gp/surrogate.h"
#include "bapi/math/types.h"

namespace bapi {

struct StopRule {
  // How far below the value at max_epoch a run may end, in the units of the mean; not negative.
  double epsilon = 0.0;

  // The range of answers. For a configuration already trained to t0: at least t0.
  Epoch min_epoch = 1;
  Epoch max_epoch = 1;

  void validate() const;
};

// Smallest epoch t in [min_epoch, max_epoch] with mean(max_epoch) - mean(t) <= epsilon, by bisection: about log2 T
// means. The answer always satisfies the inequality; it is the smallest if the mean does not decrease.
Epoch conservative_stop(const std::function<double(Epoch)>& mean, const StopRule& rule);

// The same for means given at min_epoch, min_epoch + 1, ..., max_epoch, exact whatever their shape: the running maximum
// takes the place of the mean.
Epoch conservative_stop_by_scan(const Vector& means, const StopRule& rule);

// For a configuration, with the constrained posterior mean of its curve. Scans up to kScanEpochs epochs, bisects
// beyond.
inline constexpr Epoch kScanEpochs = 200;
Epoch conservative_stop(const CurvePosterior& posterior, const Vector& x, CurveId group, const StopRule& rule);

// The constrained mean at the epochs first..last of the configuration x.
Vector curve_means(
    const CurvePosterior& posterior, const Vector& x, CurveId group, Epoch first, Epoch last, Epoch max_epoch);

}  // namespace bapi
