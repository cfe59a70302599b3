#include "bapi/acquisition/improvement.h"

#include <gtest/gtest.h>

#include <cmath>

#include "tests/support/curves.h"
#include "tests/support/references.h"

namespace bapi {
namespace {

// Expected improvement of the paper: E max(0, f - best), here by the midpoint rule.
TEST(ExpectedImprovement, IsTheAverageOfTheImprovement) {
  for (const double mean : {-1.0, 0.2, 2.0}) {
    const double sd = 0.7;
    const double best = 0.5;
    double integral = 0.0;
    const int steps = 200000;
    for (int i = 0; i < steps; ++i) {
      const double f = best + 8.0 * sd * (i + 0.5) / steps;
      const double z = (f - mean) / sd;
      integral += (f - best) * std::exp(-0.5 * z * z) / (sd * std::sqrt(2.0 * M_PI)) * 8.0 * sd / steps;
    }
    EXPECT_NEAR(expected_improvement(mean, sd, best), integral, 1e-6);
    EXPECT_NEAR(log_expected_improvement(mean, sd, best), std::log(integral), 1e-5);
  }
}

TEST(ExpectedImprovement, WithoutUncertaintyItIsTheDifference) {
  EXPECT_EQ(expected_improvement(2.0, 0.0, 0.5), 1.5);
  EXPECT_EQ(expected_improvement(0.0, 0.0, 0.5), 0.0);
  EXPECT_EQ(log_expected_improvement(0.0, 0.0, 0.5), -INFINITY);
}

TEST(ExpectedImprovement, LogIsFiniteWhereTheValueUnderflows) {
  EXPECT_EQ(expected_improvement(0.0, 1.0, 60.0), 0.0);
  EXPECT_TRUE(std::isfinite(log_expected_improvement(0.0, 1.0, 60.0)));
  EXPECT_TRUE(std::isfinite(log_improvement_slopes(0.0, 1e-3, 60.0).mean));
}

TEST(ExpectedImprovement, SlopesAgreeWithDifferences) {
  for (const double mean : {-30.0, -3.0, 0.0, 4.0}) {
    const double h = 1e-6;
    const ImprovementSlopes slopes = log_improvement_slopes(mean, 0.8, 1.0);
    const auto f = [](double m, double s) { return log_expected_improvement(m, s, 1.0); };
    EXPECT_NEAR(slopes.mean, (f(mean + h, 0.8) - f(mean - h, 0.8)) / (2 * h), 1e-6 * (1.0 + std::abs(slopes.mean)));
    EXPECT_NEAR(slopes.sd, (f(mean, 0.8 + h) - f(mean, 0.8 - h)) / (2 * h), 1e-6 * (1.0 + std::abs(slopes.sd)));
  }
}

TEST(ExpectedImprovement, GradientsInXAgreeWithDifferences) {
  Rng rng(1);
  const curves::Data data = curves::simulate(8, 3, 50, rng);
  const ExactGp gp = curves::fitted(data, TimeKind::exponential_decay, rng);
  const Vector x = Vector::NullaryExpr(3, [&] { return rng.uniform(); });
  const auto value = [&](const Vector& at) {
    return log_expected_improvement(gp, Rows::of_curve(at, {50}, 50, -1), 1.5).log_values[0];
  };
  const Vector gradient = log_expected_improvement(gp, Rows::of_curve(x, {50}, 50, -1), 1.5).gradients.col(0);
  for (int j = 0; j < 3; ++j) {
    const Vector step = 1e-5 * Vector::Unit(3, j);
    EXPECT_NEAR(gradient[j], (value(x + step) - value(x - step)) / 2e-5, 1e-5 * (1.0 + std::abs(gradient[j])));
  }
}

TEST(ConstrainedImprovement, MomentMatchingIsCloseWhereItMatters) {
  Rng rng(2);
  const curves::Data data = curves::simulate(10, 3, 50, rng);
  const ExactGp gp = curves::fitted(data, TimeKind::exponential_decay, rng);
  const SlopeConstraint slopes = slope_constraint(gp, 1);
  for (int i = 0; i < 10; ++i) {
    const Vector x = Vector::NullaryExpr(3, [&] { return rng.uniform(); });
    const MonotoneGp posterior(gp, Constraint::on_slopes(slopes, x, -1));
    const Rows row = Rows::of_curve(x, {50}, 50, -1);
    const double exact = log_constrained_improvement(posterior, row, 1.0);
    const double matched = log_moment_matched_improvement(posterior, row, 1.0);
    EXPECT_TRUE(std::isfinite(exact));
    if (exact > std::log(0.01)) {
      EXPECT_NEAR(exact, matched, 0.05);
    }
  }
}

TEST(ConstrainedImprovement, QuadratureAndPointsAgree) {
  Rng rng(3);
  const curves::Data data = curves::simulate(10, 3, 50, rng);
  const ExactGp gp = curves::fitted(data, TimeKind::exponential_decay, rng);
  const SlopeConstraint slopes = slope_constraint(gp, 1);
  const Vector x = Vector::NullaryExpr(3, [&] { return rng.uniform(); });
  const MonotoneGp posterior(gp, Constraint::on_slopes(slopes, x, -1));
  const Rows row = Rows::of_curve(x, {40}, 50, -1);
  EXPECT_NEAR(log_constrained_improvement(posterior, row, 1.2),
              log_constrained_improvement(posterior, row, 1.2, {.quadrature_dimensions = 1, .points = 1 << 14}),
              1e-2);
}

}  // namespace
}  // namespace bapi
