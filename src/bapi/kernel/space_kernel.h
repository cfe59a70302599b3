#pragma once

#include "bapi/math/types.h"

namespace bapi {

enum class SpaceKind { rbf, matern52 };

// Stationary correlation over encoded configurations with one lengthscale per dimension; 1 at distance 0.
//
//   r^2 = sum_j (x_j - x'_j)^2 / lengthscale_j^2
//   rbf:      k = exp(-r^2 / 2),                             g = k
//   matern52: k = (1 + sqrt5 r + 5 r^2 / 3) exp(-sqrt5 r),   g = (5/3)(1 + sqrt5 r) exp(-sqrt5 r)
//
// g gives all first derivatives without a division by r:
//   dk/dx_j = -g (x_j - x'_j) / lengthscale_j^2,   dk/dlog lengthscale_j = g (x_j - x'_j)^2 / lengthscale_j^2.
struct SpaceKernel {
  SpaceKind kind = SpaceKind::matern52;
  Vector lengthscales;  // positive

  bool operator==(const SpaceKernel& other) const { return kind == other.kind && lengthscales == other.lengthscales; }

  // The same points with every coordinate divided by its lengthscale; x is n x d.
  Matrix scaled(const Matrix& x) const;

  // r^2 -> k, elementwise.
  void correlations(const Eigen::Ref<const Vector>& squared_distances, Eigen::Ref<Vector> k) const;

  // r^2 -> k and g, elementwise.
  void correlations_and_factors(const Eigen::Ref<const Vector>& squared_distances,
                                Eigen::Ref<Vector> k,
                                Eigen::Ref<Vector> g) const;
};

// Squared distances of row i of `to` from the rows of `from` that start at `first`; both n x d, already scaled.
// Differences first, then squares: coincident points are at distance exactly 0.
void squared_distances(
    const Matrix& from, Eigen::Index first, const Matrix& to, Eigen::Index i, Eigen::Ref<Vector> out);

}  // namespace bapi
