#pragma once

#include <span>

#include "bapi/base/units.h"

namespace bapi {

// A sigmoid over the epochs of a full run, which counts late values more: the axis goes from -6 at the first epoch to 6
// at the last, `middle` is where the weight is 1/2, `growth` how fast it rises there.
struct CurveWeights {
  double middle = 0.0;
  double growth = 1.0;

  double at(int epoch, Epoch max_epoch) const;  // epochs count from 0 here
};

// A whole curve as one number: the mean of its weighted values, the first (middle + 4) / 12 of them left out. The
// weights belong to absolute epochs, the part left out to the length of the curve. Derivatives hold that part fixed.
struct CompressedCurve {
  double score = 0.0;
  double middle_slope = 0.0;
  double growth_slope = 0.0;
};
CompressedCurve compressed(std::span<const double> curve, const CurveWeights& weights, Epoch max_epoch);

}  // namespace bapi
