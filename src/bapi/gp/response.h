#pragma once

#include <algorithm>
#include <limits>
#include <optional>
#include <vector>

#include "bapi/base/units.h"
#include "bapi/math/types.h"

namespace bapi {

// How measured scores become what the surrogate models. Scores are to be maximised; a training that diverged reports
// NaN, an infinity or a number of absurd size.

enum class ResponseKind {
  running_maximum,  // the best model so far is kept, as the paper assumes
  raw
};

// Whether a curve can still grow.
enum class CurveEnd { open, ended };

struct CurveResponse {
  std::vector<Epoch> epochs;  // ascending
  Vector values;              // -infinity where nothing usable was seen yet
};

// The response of one curve. With the running maximum, values that are not finite count as minus infinity; raw ones
// become minus infinity only where they are not finite themselves. A curve that ended before max_epoch, because its
// planned length is shorter or because it gave up, is finished at its last value: a point at max_epoch repeats it.
CurveResponse curve_response(
    const std::vector<Epoch>& epochs, const Vector& scores, ResponseKind kind, CurveEnd end, Epoch max_epoch);

// Variance of a value about the smooth course of its curve, from the second differences of its later half, of at most
// the last ten values. Nothing for fewer than four values.
std::optional<double> fluctuation(const Vector& curve);

struct ClipOptions {
  // Values below median - factor * (best - median) are raised to it; infinity turns clipping off for finite values.
  double factor = 2.0;

  void validate() const;
};

// The level below which values are clipped, from the finite ones among them. One exploding run must not flatten the
// model of the others, and how bad a bad run is does not matter. If more than half of the values are tied at the best,
// the first lower quantile (a quarter, a tenth, the lowest) that differs takes the place of the median. Without a
// finite value it is 0; if all are equal it is that value.
double clip_level(const Vector& values, const ClipOptions& options = {});

// Every value that is below the level or not finite, raised to the level. A score of plus infinity is a failure, too.
Vector clipped(const Vector& values, double level);

// y_s = (y - mean) / scale.
struct Standardization {
  double mean = 0.0;
  double scale = 1.0;  // standard deviation, divisor n - 1; 1 for fewer than two values or a deviation below 1e-12

  Vector apply(const Vector& y) const;
  double apply(double y) const { return (y / unit - mean / unit) / (scale / unit); }
  double undo(double standardised) const { return mean + scale * standardised; }

  // Sums are taken in units of the largest value, so that squares of 1e300 do not overflow.
  double unit = 1.0;
};

Standardization standardization(const Vector& y);

// Between which values scores can be; an infinite end is open.
struct ScoreBounds {
  double low = -std::numeric_limits<double>::infinity();
  double high = std::numeric_limits<double>::infinity();

  double clamped(double y) const { return std::min(std::max(y, low), high); }
};

// Opens a bounded scale, so that no forecast leaves the bounds: log((y - low) / (high - y)), or -log(high - y) if there
// is no lower end, both with a margin beyond the bounds, which values may reach. Without an upper end values stay as
// they are: what is modelled then is how they grow.
struct BoundWarp {
  ScoreBounds bounds = {};
  double margin = 0.0;  // 0: values stay as they are, but for the bounds

  double apply(double y) const;
  double undo(double warped) const;   // within the bounds
  double slope(double warped) const;  // of undo, as if it were not cut off at the bounds
};

// The margin is a thousandth of the range, or of the distance of the best value from the bound if there is no lower
// end.
BoundWarp bound_warp(const ScoreBounds& bounds, const Vector& values);

// Spreads the values near the best and draws those far below it together: a value counts by the logarithm of its
// distance from the best, in units of a typical distance. Else how badly runs begin, and how badly bad ones end,
// decides what counts as noise, and the differences among good runs drown in it.
struct GapWarp {
  double best = 0.0;
  double gap = 0.0;  // a typical distance from the best; 0: values stay as they are

  // -log(1 + (best - y) / gap), and (y - best) / gap above the best, which continues it smoothly.
  double apply(double y) const;
  double undo(double warped) const;
  double slope(double warped) const;  // of undo
};

// From one value for each run, its best: their median distance from the best of all. If more than half are tied at the
// best, the first distance above 0 takes its place; if all are, values stay as they are. Values that are not finite do
// not count.
GapWarp gap_warp(const Vector& values);

// From scores to what is modelled: opened at the bounds, warped, then standardised.
struct ResponseScale {
  BoundWarp bound = {};
  GapWarp warp = {};
  Standardization standard = {};

  double apply(double y) const { return standard.apply(warp.apply(bound.apply(y))); }
  double undo(double standardised) const { return bound.undo(warp.undo(standard.undo(standardised))); }

  // How far a score moves with the modelled value there: turns small deviations into the unit of scores.
  double slope(double standardised) const {
    const double warped = standard.undo(standardised);
    return bound.slope(warp.undo(warped)) * warp.slope(warped) * standard.scale;
  }
};

struct Response {
  Vector y;  // standardised
  ResponseScale scale;
  double clip_level = 0.0;  // of warped values
  int clipped = 0;          // how many values the rule changed
};

// Warps, clips, then standardises. The gap is one of values that are opened at their bounds.
Response standardised_response(const Vector& values,
                               const ClipOptions& options = {},
                               const GapWarp& warp = {},
                               const BoundWarp& bound = {});

}  // namespace bapi
