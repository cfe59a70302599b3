#include "bapi/math/normal.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace bapi {
namespace normal_test {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

TEST(Normal, TailsAgreeWithTheErrorFunction) {
  for (double z = -37.0; z <= 37.0; z += 0.37) {
    const double reference = 0.5 * std::erfc(z / std::sqrt(2.0));
    // exp(-z^2 / 2) cannot be better than the rounding of its argument.
    EXPECT_NEAR(normal_tail(z), reference, 1e-15 * (2.0 + z * z) * reference) << z;
    EXPECT_NEAR(log_normal_tail(z),
                z < 0.0 ? std::log1p(-0.5 * std::erfc(-z / std::sqrt(2.0))) : std::log(reference),
                1e-14 * (1.0 + 0.5 * z * z))
        << z;
    EXPECT_EQ(normal_cdf(z), normal_tail(-z));
  }
}

TEST(Normal, ErfcxJoinsItsFormulasSmoothly) {
  for (const double x : {0.0, 1e-12, 0.5, 3.0, 49.999999, 50.000001, 1e8}) {
    const double below = erfcx(x * (1.0 - 1e-9));
    EXPECT_NEAR(erfcx(x) / below, 1.0, 2.5e-9) << x;
  }
  EXPECT_NEAR(erfcx(-3.0), std::exp(9.0) * std::erfc(-3.0), 1e-11);
  // 1 / (sqrt(pi) x) (1 - 1/(2 x^2) + 3/(4 x^4) - 15/(8 x^6)) at x = 100.
  EXPECT_NEAR(erfcx(100.0), 0.0056416137829894320, 1e-17);
  EXPECT_EQ(erfcx(-1e3), kInfinity);
}

TEST(Normal, HazardIsTheSlopeOfTheLogTail) {
  for (double z = -12.0; z < 60.0; z += 0.7) {
    const double h = 1e-4 * std::max(1.0, std::abs(z) / 10.0);
    const double difference = (log_normal_tail(z - h) - log_normal_tail(z + h)) / (2.0 * h);
    EXPECT_NEAR(normal_hazard(z), difference, 1e-6 * (1.0 + std::abs(difference))) << z;
  }
}

TEST(Normal, ExtremesGiveNoNan) {
  for (const double z : {-kInfinity, -1e308, -1e3, -40.0, 0.0, 40.0, 1e3, 1e155, 1e308, kInfinity}) {
    EXPECT_FALSE(std::isnan(log_normal_tail(z))) << z;
    EXPECT_FALSE(std::isnan(normal_hazard(z))) << z;
    EXPECT_FALSE(std::isnan(normal_tail(z))) << z;
    EXPECT_FALSE(std::isnan(normal_tail_moments(z).variance)) << z;
    EXPECT_FALSE(std::isnan(log_normal_improvement(std::clamp(z, -1e150, 1e150)))) << z;
    EXPECT_FALSE(std::isnan(log_normal_interval(z, kInfinity))) << z;
    EXPECT_FALSE(std::isnan(truncated_normal_quantile(z, kInfinity, 0.5))) << z;
  }
}

TEST(Normal, QuantileInvertsTheDistribution) {
  for (double z = -8.0; z <= 8.0; z += 0.13)
    EXPECT_NEAR(normal_quantile(normal_cdf(z)), z, 1e-14 / normal_pdf(z) + 1e-14);
  for (const double z : {10.0, 37.0, 100.0, 1e4}) EXPECT_NEAR(normal_tail_quantile(log_normal_tail(z)), z, 1e-13 * z);
  EXPECT_EQ(normal_quantile(0.0), -kInfinity);
  EXPECT_EQ(normal_quantile(1.0), kInfinity);
  EXPECT_NEAR(normal_quantile(0.5), 0.0, 1e-16);
}

TEST(Normal, DensityAndDistributionTogetherAreThoseOneByOne) {
  for (double z = -37.0; z <= 37.0; z += 0.37) {
    const NormalPoint at = normal_pdf_and_cdf(z);
    EXPECT_NEAR(at.pdf, normal_pdf(z), 1e-15 * (2.0 + z * z) * normal_pdf(z)) << z;
    EXPECT_NEAR(at.cdf, normal_cdf(z), 1e-15 * (2.0 + z * z) * normal_cdf(z)) << z;
  }
}

TEST(Normal, DrawsAboveABoundLeaveTheAskedShareBelowThem) {
  for (const double bound : {-1e200, -30.0, -8.0, -2.5, -0.3, 0.0, 0.4, 2.0, 4.99, 5.0, 9.0, 40.0}) {
    const NormalTail tail = normal_tail_and_hazard(bound);
    for (const double u : {1e-9, 0.001, 0.3, 0.5, 0.77, 0.999, 1.0 - 1e-9}) {
      const NormalTailDraw draw = normal_tail_draw(bound, u);
      EXPECT_GE(draw.z, bound);
      EXPECT_NEAR(draw.log_tail, tail.log_tail, 1e-13 * (1.0 - tail.log_tail)) << bound;
      EXPECT_NEAR(draw.hazard, tail.hazard, 1e-12 * tail.hazard) << bound;
      // log Q(z) = log Q(bound) + log(1 - u); where z is far below 0, the share below it is the one with digits.
      if (draw.z > -1.0) {
        EXPECT_NEAR(log_normal_tail(draw.z), tail.log_tail + std::log1p(-u), 1e-12 * (1.0 + bound * bound)) << bound;
      } else {
        const double below = normal_cdf(bound) + u * normal_tail(bound);
        EXPECT_NEAR(normal_cdf(draw.z), below, 1e-11 * below) << bound << ' ' << u;
      }
    }
  }
}

TEST(Normal, IntervalsAddUp) {
  for (const double a : {-20.0, -3.0, -0.1, 0.0, 2.0, 15.0}) {
    const double middle = a + 0.4;
    const double b = a + 0.9;
    const double parts = std::exp(log_normal_interval(a, middle) - log_normal_interval(a, b)) +
                         std::exp(log_normal_interval(middle, b) - log_normal_interval(a, b));
    EXPECT_NEAR(parts, 1.0, 1e-12) << a;
  }
  EXPECT_EQ(log_normal_interval(1.0, 1.0), -kInfinity);
}

TEST(Normal, NarrowIntervalsKeepTheirDigits) {
  for (const double a : {-30.0, -1.0, 0.0, 0.5, 8.0, 30.0}) {
    const double w = 1e-9;
    EXPECT_NEAR(log_normal_interval(a, a + w), log_normal_pdf(a + 0.5 * w) + std::log((a + w) - a), 1e-12 * (1 + a * a))
        << a;
  }
}

TEST(Normal, TruncatedQuantileSplitsTheIntervalInTheAskedProportion) {
  for (const double a : {-kInfinity, -30.0, -2.0, 0.0, 3.0, 40.0}) {
    for (const double width : {1e-6, 0.3, 5.0, kInfinity}) {
      if (std::isinf(a) && !std::isinf(width)) continue;
      for (const double u : {1e-12, 0.2, 0.5, 0.97, 1.0 - 1e-12}) {
        const double b = std::isinf(a) ? 1.5 : a + width;
        const double z = truncated_normal_quantile(a, b, u);
        ASSERT_GE(z, a);
        ASSERT_LE(z, b);
        const double share = std::exp(log_normal_interval(a, z) - log_normal_interval(a, b));
        // A double at z itself limits what can be reached.
        const double rounding = std::exp(log_normal_pdf(z) - log_normal_interval(a, b)) * (1.0 + std::abs(z)) * 1e-15;
        EXPECT_NEAR(share, u, 1e-11 + 4.0 * rounding) << a << " " << b << " " << u;
      }
    }
  }
}

TEST(Normal, TailMomentsAgreeWithTheirAsymptoticSeriesWhereTheyMeet) {
  const TailMoments below = normal_tail_moments(30.0 - 1e-9);
  const TailMoments above = normal_tail_moments(30.0 + 1e-9);
  EXPECT_NEAR(below.variance / above.variance, 1.0, 1e-9);
  EXPECT_NEAR(normal_tail_moments(0.0).mean, std::sqrt(2.0 / M_PI), 1e-15);
  EXPECT_NEAR(normal_tail_moments(0.0).variance, 1.0 - 2.0 / M_PI, 1e-15);
}

TEST(Normal, ImprovementJoinsItsFormulasSmoothly) {
  for (const double z : {-1.0, -100.0}) {
    EXPECT_NEAR(log_normal_improvement(z - 1e-9), log_normal_improvement(z + 1e-9), 1e-6 * std::abs(z)) << z;
  }
  EXPECT_NEAR(log_normal_improvement(0.0), -kLogSqrtTwoPi, 1e-15);
  EXPECT_NEAR(log_normal_improvement(30.0), std::log(30.0), 1e-15);
}

}  // namespace normal_test
}  // namespace bapi
