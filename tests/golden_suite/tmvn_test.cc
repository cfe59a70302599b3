#include <gtest/gtest.h>

#include "bapi/math/box_quadrature.h"
#include "bapi/math/truncated_normal.h"
#include "golden.h"

namespace bapi::golden {
namespace tmvn_test {

// Enough that the error of the moments is well below the tolerance of estimated values.
constexpr int kPoints = 1 << 15;

std::vector<int> given_order(Eigen::Index n) {
  std::vector<int> order;
  for (int i = 0; i < n; ++i) order.push_back(i);
  return order;
}

void check_draws(Case& c, const WhitenedBox& box) {
  const Matrix uniforms = c.inputs()["U"].matrix();
  const WeightedDraws plain = separate_variables(box, uniforms, Vector::Zero(box.mean.size()));
  c.expect("sov_zeta", plain.zeta);
  c.expect("sov_log_weight", plain.log_weights);

  const MinimaxTilt tilt = minimax_tilt(box);
  c.expect_true(tilt.converged, "the saddle point was not found");
  const WeightedDraws tilted = separate_variables(box, uniforms, tilt.shift);
  if (c.expects("tilt_x")) c.expect("tilt_x", tilt.point);
  c.expect("tilt_mu", tilt.shift);
  c.expect("tilt_psi_star", tilt.log_bound);
  c.expect("tilted_zeta", tilted.zeta);
  c.expect("tilted_log_weight", tilted.log_weights);
}

void check_moments(Case& c, const TruncatedNormal& distribution) {
  const TruncatedMoments moments =
      truncated_moments(distribution, {.quadrature_dimensions = kMaxQuadratureDimensions, .points = kPoints});
  c.expect("log_p", moments.log_probability);
  c.expect("mean", moments.mean);
  if (c.expects("cov")) c.expect("cov", moments.covariance);
  if (c.expects("var")) c.expect("var", Vector(moments.covariance.diagonal()));
}

TEST(Golden, TruncatedNormal) {
  for_each_case("tmvn", [](Case& c) {
    const TruncatedNormal distribution{.mean = c.inputs()["nu"].vector(),
                                       .covariance = c.inputs()["B"].matrix(),
                                       .lower = c.inputs()["lower"].vector(),
                                       .upper = c.inputs()["upper"].vector()};
    check_draws(c, whiten(distribution, given_order(distribution.mean.size())));
    check_moments(c, distribution);
  });
}

}  // namespace tmvn_test
}  // namespace bapi::golden
