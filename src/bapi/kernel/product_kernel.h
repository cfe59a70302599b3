#pragma once

#include <vector>

#include "bapi/kernel/rows.h"
#include "bapi/kernel/space_kernel.h"
#include "bapi/kernel/time_kernel.h"
#include "bapi/math/types.h"

namespace bapi {

// Covariance of two rows:
//
//   amplitude * kx(x, x') * kt(tau, tau')  +  own_amplitude * 1[same group] * kt(tau, tau'),
//
// kt differentiated in the arguments whose row is a slope. The second term is what a configuration has of its own and
// does not share with its neighbours in x; it is off at 0.
struct ProductKernel {
  double amplitude = 1.0;  // > 0
  SpaceKernel space;
  TimeKernel time;
  double own_amplitude = 0.0;  // >= 0

  bool operator==(const ProductKernel&) const = default;
};

// A product kernel ready to be evaluated, with the tables of its time kernel for rows on the scale of max_epoch.
class Covariance {
 public:
  // max_epoch = 0 for rows at arbitrary tau; rows of another scale are right but slower.
  explicit Covariance(ProductKernel kernel, Epoch max_epoch = 0);

  const ProductKernel& kernel() const { return kernel_; }

  // K(a, b), |a| x |b|. Consecutive rows of b with the same x share one evaluation over x.
  Matrix cross(const Rows& a, const Rows& b) const;

  // K(a, a), symmetric to the last bit.
  Matrix gram(const Rows& a) const;

  // The diagonal of K(a, a).
  Vector variances(const Rows& a) const;

  // K(b, a) weights. For rows of b at one x and whole epochs the weights are first summed by epoch, so that a whole
  // curve costs little more than one of its points.
  Vector contracted(const Rows& a, const Rows& b, const Vector& weights) const;

  // Gradients in x of the rows b, contracted with weights over a. Column i of the result (d) is
  //   sum_k weights(k, i) dK(a_k, b_i)/dx_i,
  // weights being |a| x |b|, or |a| x 1 for the same weights in each column. The own term does not depend on x.
  Matrix contracted_x_gradient(const Rows& a, const Rows& b, const Matrix& weights) const;

  // All contractions of several weight vectors with rows at one x: element j is the |b| x m matrix
  //   dK(a, b)^T/dx_j * weights,
  // weights being |a| x m.
  std::vector<Matrix> contracted_x_gradients(const Rows& a, const Rows& b, const Matrix& weights) const;

 private:
  Vector contracted_curve(
      const Rows& a, const Rows& b, Eigen::Index first, Eigen::Index count, const Vector& weights) const;

  ProductKernel kernel_;
  TimeTable table_;
};

}  // namespace bapi
