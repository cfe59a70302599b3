#include "bapi/math/box_quadrature.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "bapi/math/normal.h"

namespace bapi {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

SmallMatrix correlated(double rho) {
  SmallMatrix factor(2, 2);
  factor << 1.0, 0.0, rho, std::sqrt(1.0 - rho * rho);
  return factor;
}

SmallVector constant(int n, double value) { return SmallVector::Constant(n, value); }

TEST(BoxQuadrature, OrthantProbabilityIsTheArcSineLaw) {
  for (const double rho : {-0.999, -0.7, 0.0, 0.3, 0.9, 0.999, 0.999999}) {
    const BoxMoments moments = box_moments(correlated(rho), constant(2, 0.0), constant(2, kInfinity));
    EXPECT_NEAR(std::exp(moments.log_probability), 0.25 + std::asin(rho) / (2.0 * M_PI), 1e-10) << rho;
  }
}

TEST(BoxQuadrature, IndependentCoordinatesFactorise) {
  SmallVector lower(3);
  SmallVector upper(3);
  lower << -1.0, 2.0, -kInfinity;
  upper << 0.5, kInfinity, 1.0;
  const BoxMoments moments = box_moments(SmallMatrix::Identity(3, 3), lower, upper);
  double log_p = 0.0;
  for (int i = 0; i < 3; ++i) {
    const TailMoments one = normal_interval_moments(lower[i], upper[i]);
    log_p += log_normal_interval(lower[i], upper[i]);
    EXPECT_NEAR(moments.mean[i], one.mean, 1e-11);
    EXPECT_NEAR(moments.covariance(i, i), one.variance, 1e-11);
  }
  EXPECT_NEAR(moments.log_probability, log_p, 1e-11);
  EXPECT_NEAR(moments.covariance(0, 1), 0.0, 1e-11);
}

TEST(BoxQuadrature, TheOrderOfTheCoordinatesDoesNotMatter) {
  // P(X > a, Y > b) of the same pair, conditioned on either coordinate first.
  for (const double rho : {-0.95, -0.2, 0.6, 0.99}) {
    for (const double a : {-3.0, 0.0, 5.0}) {
      for (const double b : {-1.0, 2.0, 25.0}) {
        SmallVector ab(2);
        SmallVector ba(2);
        ab << a, b;
        ba << b, a;
        const BoxMoments one = box_moments(correlated(rho), ab, constant(2, kInfinity));
        const BoxMoments two = box_moments(correlated(rho), ba, constant(2, kInfinity));
        EXPECT_NEAR(one.log_probability, two.log_probability, 1e-9 * (1.0 + std::abs(one.log_probability)))
            << rho << " " << a << " " << b;
        const double first = one.mean[0];
        const double same = rho * two.mean[0] + std::sqrt(1.0 - rho * rho) * two.mean[1];
        EXPECT_NEAR(first, same, 1e-8 * (1.0 + std::abs(first))) << rho << " " << a << " " << b;
      }
    }
  }
}

TEST(BoxQuadrature, FarTailsHaveNoNan) {
  for (const double bound : {30.0, 300.0, 3000.0}) {
    for (const double rho : {-0.9, 0.0, 0.9}) {
      const BoxMoments moments = box_moments(correlated(rho), constant(2, bound), constant(2, kInfinity));
      EXPECT_TRUE(std::isfinite(moments.log_probability));
      EXPECT_TRUE(moments.mean.allFinite());
      EXPECT_TRUE(moments.covariance.allFinite());
      EXPECT_GT(moments.covariance(0, 0), 0.0);
      // The least norm of a point of the box is that of its corner.
      EXPECT_NEAR(moments.log_probability / (-bound * bound / (1.0 + rho)), 1.0, 0.05);
    }
  }
}

TEST(BoxQuadrature, FourDimensionsAgreeWithTheEquicorrelatedOrthant) {
  // With correlation 1/2 throughout, P(all > 0) = 1 / (n + 1).
  for (const int n : {2, 3, 4}) {
    SmallMatrix covariance = SmallMatrix::Constant(n, n, 0.5);
    covariance.diagonal().setOnes();
    SmallMatrix factor = SmallMatrix::Zero(n, n);
    for (int i = 0; i < n; ++i) {
      for (int j = 0; j <= i; ++j) {
        double rest = covariance(i, j);
        for (int k = 0; k < j; ++k) rest -= factor(i, k) * factor(j, k);
        factor(i, j) = i == j ? std::sqrt(rest) : rest / factor(j, j);
      }
    }
    const BoxMoments moments = box_moments(factor, constant(n, 0.0), constant(n, kInfinity));
    EXPECT_NEAR(std::exp(moments.log_probability), 1.0 / (n + 1), 1e-11);
  }
}

}  // namespace
}  // namespace bapi
