#pragma once

#include "bapi/base/rng.h"
#include "bapi/gp/exact_gp.h"

namespace bapi::bench {

// A draw of a Gaussian process over [0,1]^d with rbf kernel, as a sum of random cosines: rough enough that acquisition
// functions have many hills.
class RandomFourierFunction {
 public:
  RandomFourierFunction(int dim, double lengthscale, Rng& rng);
  double operator()(const Vector& x) const;

 private:
  Matrix frequencies_;  // features x d
  Vector phases_;
};

struct Sample {
  Rows rows;
  Vector y;  // standardised
};

// n configurations, each with its value at the last epoch.
Sample configurations(int n, int dim, Rng& rng);

// n rows: curves of four rows each that rise towards the value of their configuration.
Sample curves(int n, int dim, Rng& rng);

inline constexpr Epoch kLastEpoch = 50;

}  // namespace bapi::bench
