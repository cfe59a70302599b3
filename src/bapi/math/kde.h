#pragma once

#include <optional>
#include <vector>

#include "bapi/base/rng.h"
#include "bapi/math/types.h"

namespace bapi {

// One coordinate of a density: a number in [0, 1], or one of `options` unordered options, written as its index.
struct Coordinate {
  int options = 0;  // 0: a number

  bool categorical() const { return options > 0; }
};

// A product-kernel density estimate, p(x) = 1/n sum_i prod_k K_k(x_k, x_ik).
//
//   number:  phi((x - x_i) / h) / h, not renormalised on [0, 1]
//   options: 1 - h if equal, else h / (options - 1)
//
// Bandwidths by the normal reference rule in each coordinate: h = 1.06 sd n^(-1/(4 + d)), sd with divisor n, at least
// 1e-3; that of options is at most 1 - 1 / options, where the kernel is flat.
class ProductDensity {
 public:
  ProductDensity(Matrix points, std::vector<Coordinate> axes);  // n x d, n >= 1

  const Matrix& points() const { return points_; }
  const Vector& bandwidths() const { return bandwidths_; }
  double log_density(const Vector& x) const;

  // A point near a random one of the data: numbers from a normal `widening` bandwidths wide, truncated to [0, 1];
  // options are kept with probability 1 - h, otherwise any option. One draw for the data point and one per coordinate.
  Vector draw(double widening, Rng& rng) const;

 private:
  Matrix points_;
  std::vector<Coordinate> axes_;
  Vector bandwidths_;
};

// u in [0, 1] to a draw from the normal distribution with that mean and deviation, truncated to [0, 1].
double truncated_to_unit(double mean, double sd, double u);

// How many of n results count as good and as bad, the best first; nullopt while there are too few in d dimensions,
// which is as long as n < 2 (d + 1). Results beyond good + bad are left out.
struct DensitySplit {
  int good = 0;
  int bad = 0;
  bool operator==(const DensitySplit&) const = default;
};
std::optional<DensitySplit> density_split(int n, int d);

// Where good results are dense and bad ones are not.
struct DensityPair {
  ProductDensity good;
  ProductDensity bad;

  // Points best first: the split's good ones, then its bad ones.
  static DensityPair fit(const Matrix& best_first, const std::vector<Coordinate>& axes, const DensitySplit& split);

  // log good - log bad, both densities at least 1e-32. Larger is better.
  double log_ratio(const Vector& x) const;

  // The best of `candidates` draws from the good density.
  Vector propose(int candidates, double widening, Rng& rng) const;
};

}  // namespace bapi
