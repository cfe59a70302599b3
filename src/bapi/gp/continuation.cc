#include "bapi/gp/continuation.h"

#include "bapi/base/error.h"

namespace bapi {
namespace {

// A variance below this share of the prior's is rounding.
constexpr double kRounding = 1e-12;

}  // namespace

Moments continuation(const ExactGp& gp, const Rows& now, const Vector& reached, const Rows& then) {
  check(now.size() == then.size() && reached.size() == now.size(), "continuation: one value and one row of each kind");
  const ProductKernel& kernel = gp.parameters().kernel;
  const double amplitude = kernel.amplitude + kernel.own_amplitude;  // a curve with itself
  const Matrix v_now = gp.whitened_cross(now);
  const Matrix v_then = gp.whitened_cross(then);
  const Vector prior_now = gp.covariance().variances(now);
  const Vector prior_then = gp.covariance().variances(then);
  Moments moments{.mean = gp.prior_mean(then) + v_then.transpose() * gp.residual(), .variance = Vector(then.size())};
  const Vector surprise = reached - gp.prior_mean(now) - v_now.transpose() * gp.residual();
  for (Eigen::Index i = 0; i < then.size(); ++i) {
    const double covariance = amplitude * kernel.time(now.op[static_cast<std::size_t>(i)],
                                                      now.tau[i],
                                                      then.op[static_cast<std::size_t>(i)],
                                                      then.tau[i]) -
                              v_now.col(i).dot(v_then.col(i));
    const double variance_now = std::max(prior_now[i] - v_now.col(i).squaredNorm(), kRounding * prior_now[i]);
    const double gain = covariance / variance_now;
    const double variance = prior_then[i] - v_then.col(i).squaredNorm() - gain * covariance;
    moments.mean[i] += gain * surprise[i];
    moments.variance[i] = std::max(variance, kRounding * prior_then[i]);
  }
  return moments;
}

}  // namespace bapi
