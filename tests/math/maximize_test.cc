#include "bapi/math/maximize.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "bapi/base/error.h"
#include "bapi/base/rng.h"

namespace bapi {
namespace {

Box cube(Eigen::Index d, double low, double high) { return {Vector::Constant(d, low), Vector::Constant(d, high)}; }

double negative_rosenbrock(const Vector& x, Vector& gradient) {
  const double a = 1.0 - x(0);
  const double b = x(1) - x(0) * x(0);
  gradient(0) = 2.0 * a + 400.0 * b * x(0);
  gradient(1) = -200.0 * b;
  return -a * a - 100.0 * b * b;
}

TEST(Maximize, FindsTheTopOfACurvedRidge) {
  const MaximizeSummary found =
      maximize(negative_rosenbrock, cube(2, -2.0, 2.0), Vector::Constant(2, -1.2), {.max_iterations = 200});
  EXPECT_EQ(found.end, MaximizeEnd::converged);
  EXPECT_NEAR(found.x(0), 1.0, 1e-3);
  EXPECT_NEAR(found.x(1), 1.0, 2e-3);
  EXPECT_LT(found.evaluations, 100);
}

TEST(Maximize, StopsAtTheBoundThatHoldsTheMaximum) {
  // Concave quadratic with its top at (2, -3, 0.5), box [0, 1]^3: the best point is (1, 0, 0.5).
  const Vector top = (Vector(3) << 2.0, -3.0, 0.5).finished();
  const Vector weight = (Vector(3) << 1.0, 10.0, 100.0).finished();
  const Objective objective = [&](const Vector& x, Vector& gradient) {
    gradient = -2.0 * weight.cwiseProduct(x - top);
    return -weight.dot((x - top).cwiseAbs2());
  };
  const MaximizeSummary found = maximize(objective, cube(3, 0.0, 1.0), Vector::Constant(3, 0.3));
  EXPECT_EQ(found.end, MaximizeEnd::converged);
  EXPECT_DOUBLE_EQ(found.x(0), 1.0);
  EXPECT_DOUBLE_EQ(found.x(1), 0.0);
  EXPECT_NEAR(found.x(2), 0.5, 1e-5);
}

TEST(Maximize, StartOutsideTheBoxIsMovedIntoIt) {
  const Objective objective = [](const Vector& x, Vector& gradient) {
    EXPECT_TRUE((x.array() >= 0.0).all() && (x.array() <= 1.0).all());
    gradient = Vector::Ones(x.size());
    return x.sum();
  };
  const MaximizeSummary found = maximize(objective, cube(2, 0.0, 1.0), Vector::Constant(2, 7.0));
  EXPECT_EQ(found.x, Vector::Ones(2));
}

TEST(Maximize, RefusedPointsShortenTheStep) {
  // log is -inf below 0: the first long step lands there.
  const Objective objective = [](const Vector& x, Vector& gradient) {
    if (x(0) <= 0.0) return -std::numeric_limits<double>::infinity();
    gradient(0) = 1.0 / x(0) - 10.0;
    return std::log(x(0)) - 10.0 * x(0);
  };
  const MaximizeSummary found = maximize(objective, cube(1, -5.0, 5.0), Vector::Constant(1, 1.0), {.first_step = 4.0});
  EXPECT_NEAR(found.x(0), 0.1, 1e-4);
}

TEST(Maximize, ObjectiveWithoutAnyValueEndsWithoutProgress) {
  const Objective objective = [](const Vector&, Vector&) { return std::numeric_limits<double>::quiet_NaN(); };
  EXPECT_EQ(maximize(objective, cube(1, 0.0, 1.0), Vector::Zero(1)).end, MaximizeEnd::no_progress);
}

TEST(Maximize, AscentsDoNotDependOnTheirCompany) {
  const BatchObjective batch = [](const Matrix& points, Vector& values, Matrix& gradients) {
    Vector gradient(2);
    for (Eigen::Index i = 0; i < points.cols(); ++i) {
      values(i) = negative_rosenbrock(points.col(i), gradient);
      gradients.col(i) = gradient;
    }
  };
  Rng rng(1);
  Matrix starts(2, 6);
  for (Eigen::Index i = 0; i < starts.size(); ++i) starts(i) = 4.0 * rng.uniform() - 2.0;
  const std::vector<MaximizeSummary> together = maximize_together(batch, cube(2, -2.0, 2.0), starts);
  for (Eigen::Index i = 0; i < 6; ++i) {
    const MaximizeSummary alone = maximize(negative_rosenbrock, cube(2, -2.0, 2.0), starts.col(i));
    EXPECT_EQ(together[i].x, alone.x);
    EXPECT_EQ(together[i].evaluations, alone.evaluations);
  }
}

TEST(Maximize, OptionsOutsideTheirRangeAreNamed) {
  EXPECT_THROW(MaximizeOptions{.max_iterations = 0}.validate(), InvalidInput);
  EXPECT_THROW(MaximizeOptions{.first_step = 0.0}.validate(), InvalidInput);
  EXPECT_THROW(MaximizeOptions{.memory = 0}.validate(), InvalidInput);
}

}  // namespace
}  // namespace bapi
