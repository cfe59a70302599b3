#pragma once

#include <Eigen/Core>

namespace bapi {

// Largest dimension of the quadrature.
inline constexpr int kMaxQuadratureDimensions = 4;

// At most four numbers, without a heap allocation: these functions run once per candidate of a search.
using SmallVector = Eigen::Matrix<double, Eigen::Dynamic, 1, 0, kMaxQuadratureDimensions, 1>;
using SmallMatrix =
    Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, 0, kMaxQuadratureDimensions, kMaxQuadratureDimensions>;

// Moments of independent standard normals zeta given lower <= factor zeta <= upper.
struct BoxMoments {
  double log_probability = 0.0;
  SmallVector mean;        // of zeta
  SmallMatrix covariance;  // of zeta
};

// By nested Gauss-Legendre quadrature, coordinate after coordinate. Every one-dimensional integrand is log-concave: its
// mode is found by Newton's method, the range by where it has dropped by a factor e^36. Accurate to about 1e-10
// relative, down to probabilities far below the smallest double. `factor` is lower triangular with a positive diagonal;
// bounds may be infinite.
BoxMoments box_moments(const SmallMatrix& factor, const SmallVector& lower, const SmallVector& upper);

}  // namespace bapi
