#include "bapi/math/truncated_normal.h"

#include <gtest/gtest.h>

#include <Eigen/Cholesky>
#include <cmath>
#include <limits>

#include "bapi/base/error.h"
#include "bapi/math/normal.h"
#include "bapi/math/quasi_random.h"

namespace bapi {
namespace truncated_normal_test {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// Slopes at equidistant times of a smooth random curve, all asked to be positive: highly correlated.
TruncatedNormal smooth_slopes(int s, double mean) {
  TruncatedNormal d{Vector::Constant(s, mean), Matrix(s, s), Vector::Zero(s), {}};
  for (int i = 0; i < s; ++i) {
    for (int j = 0; j < s; ++j) d.covariance(i, j) = std::exp(-0.125 * (i - j) * (i - j)) + (i == j ? 1e-4 : 0.0);
  }
  return d;
}

TruncatedNormal random_box(int s, Rng& rng) {
  Matrix a(s, s);
  TruncatedNormal d{Vector(s), Matrix(s, s), Vector(s), Vector(s)};
  for (int i = 0; i < s; ++i) {
    for (int j = 0; j < s; ++j) a(i, j) = rng.normal();
    d.mean[i] = rng.normal();
    d.lower[i] = rng.below(4) == 0 ? -kInfinity : rng.normal() - 0.5;
    d.upper[i] = rng.below(2) == 0 ? kInfinity : std::max(d.lower[i], -1.0) + 0.5 + 2.0 * rng.uniform();
  }
  d.covariance = a * a.transpose() / s + 0.2 * Matrix::Identity(s, s);
  return d;
}

TEST(TruncatedNormal, QuadratureAndPointsAgree) {
  Rng rng(1);
  for (int i = 0; i < 12; ++i) {
    const TruncatedNormal d = random_box(2 + i % 3, rng);
    const TruncatedMoments exact = truncated_moments(d, {.quadrature_dimensions = 4});
    const TruncatedMoments estimate = truncated_moments(d, {.quadrature_dimensions = 1, .points = 1 << 14});
    const double scale = std::sqrt(exact.covariance.diagonal().maxCoeff());
    EXPECT_NEAR(exact.log_probability, estimate.log_probability, 2e-3);
    EXPECT_LT((exact.mean - estimate.mean).cwiseAbs().maxCoeff(), 5e-3 * scale);
    EXPECT_LT((exact.covariance - estimate.covariance).cwiseAbs().maxCoeff(), 1e-2 * scale * scale);
  }
}

TEST(TruncatedNormal, GradientOfTheLogProbabilityIsTheWhitenedMeanShift) {
  // d log p / d nu = B^-1 (c - nu),   d c / d nu = S B^-1.
  Rng rng(2);
  for (int i = 0; i < 6; ++i) {
    const TruncatedNormal d = random_box(2 + i % 2, rng);
    const TruncatedMoments at = truncated_moments(d);
    const Vector slope = d.covariance.ldlt().solve(at.mean - d.mean);
    const Matrix jacobian = d.covariance.ldlt().solve(at.covariance).transpose();
    for (Eigen::Index k = 0; k < d.mean.size(); ++k) {
      const double h = 1e-5;
      TruncatedNormal up = d;
      TruncatedNormal down = d;
      up.mean[k] += h;
      down.mean[k] -= h;
      const TruncatedMoments a = truncated_moments(up);
      const TruncatedMoments b = truncated_moments(down);
      EXPECT_NEAR((a.log_probability - b.log_probability) / (2 * h), slope[k], 1e-6);
      EXPECT_LT(((a.mean - b.mean) / (2 * h) - jacobian.col(k)).cwiseAbs().maxCoeff(), 1e-6);
    }
  }
}

TEST(TruncatedNormal, DerivativeInTheCovarianceFollowsTheIdentity) {
  // d log p / d B = 1/2 B^-1 (S + d d^T - B) B^-1 with d = c - nu.
  Rng rng(3);
  const TruncatedNormal d = random_box(3, rng);
  const TruncatedMoments at = truncated_moments(d);
  const Vector shift = at.mean - d.mean;
  const Matrix inner = at.covariance + shift * shift.transpose() - d.covariance;
  const Matrix half = d.covariance.ldlt().solve(inner);
  const Matrix derivative = 0.5 * d.covariance.ldlt().solve(half.transpose());
  for (int i = 0; i < 3; ++i) {
    for (int j = 0; j <= i; ++j) {
      const double h = 1e-5;
      TruncatedNormal up = d;
      TruncatedNormal down = d;
      up.covariance(i, j) += h;
      down.covariance(i, j) -= h;
      if (i != j) {
        up.covariance(j, i) += h;
        down.covariance(j, i) -= h;
      }
      const double difference =
          (truncated_moments(up).log_probability - truncated_moments(down).log_probability) / (2 * h);
      EXPECT_NEAR(difference, (i == j ? 1.0 : 2.0) * derivative(i, j), 1e-6);
    }
  }
}

TEST(TruncatedNormal, TiltedWeightsNeverPassTheirBound) {
  for (const double mean : {1.0, 0.0, -2.0}) {
    const TruncatedNormal d = smooth_slopes(8, mean);
    const WhitenedBox box = whiten(d, variable_order(d));
    const MinimaxTilt tilt = minimax_tilt(box);
    ASSERT_TRUE(tilt.converged);
    const WeightedDraws draws = separate_variables(box, centred_sobol_points(1024, 8), tilt.shift);
    EXPECT_LE(draws.log_weights.maxCoeff(), tilt.log_bound + 1e-9);
    EXPECT_GT(effective_size(draws.log_weights), 500.0);
  }
}

TEST(TruncatedNormal, FarTailsHaveNoNan) {
  for (const int s : {1, 2, 3, 8}) {
    for (const double mean : {-30.0, -300.0}) {
      const TruncatedMoments moments = truncated_moments(smooth_slopes(s, mean));
      EXPECT_LT(moments.log_probability, -400.0);
      EXPECT_TRUE(std::isfinite(moments.log_probability));
      EXPECT_TRUE(moments.mean.allFinite());
      EXPECT_TRUE(moments.covariance.allFinite());
      EXPECT_GE(moments.mean.minCoeff(), -1e-9);
    }
  }
}

TEST(TruncatedNormal, RefusesWhatIsNoDistribution) {
  TruncatedNormal d = smooth_slopes(2, 0.0);
  d.upper = Vector::Constant(2, -1.0);
  EXPECT_THROW(truncated_moments(d), InvalidInput);
  d.upper.resize(0);
  d.covariance.setZero();
  EXPECT_THROW(truncated_moments(d), InvalidInput);
}

TEST(TruncatedNormal, WeightsAreNormalisedInLogSpace) {
  EXPECT_NEAR(log_mean_exp(Eigen::Vector2d(-1000.0, -1000.0)), -1000.0, 1e-12);
  EXPECT_NEAR(normalised_weights(Eigen::Vector2d(-1e4, -1e4 + std::log(3.0)))[1], 0.75, 1e-12);
  EXPECT_NEAR(effective_size(Vector::Constant(7, -500.0)), 7.0, 1e-12);
}

}  // namespace truncated_normal_test
}  // namespace bapi
