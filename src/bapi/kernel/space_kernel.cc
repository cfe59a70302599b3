#include "bapi/kernel/space_kernel.h"

#include <cmath>

#include "bapi/base/error.h"

namespace bapi {
namespace {

const double kSqrt5 = std::sqrt(5.0);

}  // namespace

Matrix SpaceKernel::scaled(const Matrix& x) const {
  check(x.cols() == lengthscales.size(), "space kernel: points have another dimension than the lengthscales");
  Matrix result(x.rows(), x.cols());
  for (Eigen::Index j = 0; j < x.cols(); ++j) result.col(j) = x.col(j) * (1.0 / lengthscales(j));
  return result;
}

void SpaceKernel::correlations(const Eigen::Ref<const Vector>& squared_distances, Eigen::Ref<Vector> k) const {
  if (kind == SpaceKind::rbf) {
    k.array() = (-0.5 * squared_distances.array()).exp();
    return;
  }
  k.array() = kSqrt5 * squared_distances.array().sqrt();
  k.array() = (1.0 + k.array() + (5.0 / 3.0) * squared_distances.array()) * (-k.array()).exp();
}

void SpaceKernel::correlations_and_factors(const Eigen::Ref<const Vector>& squared_distances,
                                           Eigen::Ref<Vector> k,
                                           Eigen::Ref<Vector> g) const {
  if (kind == SpaceKind::rbf) {
    k.array() = (-0.5 * squared_distances.array()).exp();
    g = k;
    return;
  }
  k.array() = kSqrt5 * squared_distances.array().sqrt();
  g.array() = (-k.array()).exp();
  k.array() += 1.0;
  // k holds 1 + sqrt5 r, g the exponential.
  const double third = 5.0 / 3.0;
  for (Eigen::Index i = 0; i < k.size(); ++i) {
    const double linear = k(i);
    const double decay = g(i);
    k(i) = (linear + third * squared_distances(i)) * decay;
    g(i) = third * linear * decay;
  }
}

void squared_distances(
    const Matrix& from, Eigen::Index first, const Matrix& to, Eigen::Index i, Eigen::Ref<Vector> out) {
  out.setZero();
  const Eigen::Index count = out.size();
  for (Eigen::Index j = 0; j < from.cols(); ++j) {
    out.array() += (from.col(j).segment(first, count).array() - to(i, j)).square();
  }
}

}  // namespace bapi
