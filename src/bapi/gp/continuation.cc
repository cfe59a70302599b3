#include "bapi/gp/continuation.h"

#include "bapi/base/error.h"

namespace bapi {
namespace {

// A variance below this share of the prior's is rounding.
constexpr double kRounding = 1e-12;

// The variance of a second observation of the same, so that both together weigh as much as one of the first variance.
double second_variance(double wanted, double noise) { return wanted > 0.0 ? 1.0 / (1.0 / wanted - 1.0 / noise) : 0.0; }

}  // namespace

Moments continuation(const ExactGp& gp, const Rows& now, const Vector& reached, double variance, const Rows& then) {
  check(now.size() == then.size() && reached.size() == now.size(), "continuation: one value and one row of each kind");
  const double noise = gp.noise();
  if (variance >= noise) return gp.predict(then);
  const double again = second_variance(variance, noise);
  const ProductKernel& kernel = gp.parameters().kernel;
  const double amplitude = kernel.amplitude + kernel.own_amplitude;  // a curve with itself
  const Matrix v_now = gp.whitened_cross(now);
  const Matrix v_then = gp.whitened_cross(then);
  const Vector prior_now = gp.covariance().variances(now);
  const Vector prior_then = gp.covariance().variances(then);
  Moments moments{.mean = gp.prior_mean(then) + v_then.transpose() * gp.residual(), .variance = Vector(then.size())};
  const Vector surprise = reached - gp.prior_mean(now) - v_now.transpose() * gp.residual();
  for (Eigen::Index i = 0; i < then.size(); ++i) {
    const auto at = static_cast<std::size_t>(i);
    const double prior = amplitude * kernel.time(now.op[at], now.tau[i], then.op[at], then.tau[i]);
    const double covariance = prior - v_now.col(i).dot(v_then.col(i));
    const double variance_now = std::max(prior_now[i] - v_now.col(i).squaredNorm(), kRounding * prior_now[i]);
    const double gain = covariance / (variance_now + again);
    const double variance_then = prior_then[i] - v_then.col(i).squaredNorm() - gain * covariance;
    moments.mean[i] += gain * surprise[i];
    moments.variance[i] = std::max(variance_then, kRounding * prior_then[i]);
  }
  return moments;
}

}  // namespace bapi
