#include "bapi/kernel/space_kernel.h"

#include <gtest/gtest.h>

#include <cmath>

namespace bapi {
namespace {

SpaceKernel kernel(SpaceKind kind) { return {kind, Vector::Ones(1)}; }

double at(SpaceKind kind, double r) {
  Vector k(1);
  kernel(kind).correlations(Vector::Constant(1, r * r), k);
  return k(0);
}

TEST(SpaceKernel, IsOneAtDistanceZero) {
  for (const SpaceKind kind : {SpaceKind::rbf, SpaceKind::matern52}) EXPECT_EQ(at(kind, 0.0), 1.0);
}

TEST(SpaceKernel, HasItsClosedForm) {
  const double r = 0.7;
  EXPECT_NEAR(at(SpaceKind::rbf, r), std::exp(-0.245), 1e-15);
  const double z = std::sqrt(5.0) * r;
  EXPECT_NEAR(at(SpaceKind::matern52, r), (1.0 + z + z * z / 3.0) * std::exp(-z), 1e-15);
}

TEST(SpaceKernel, VanishesFarAwayWithoutBecomingNegativeOrNan) {
  for (const SpaceKind kind : {SpaceKind::rbf, SpaceKind::matern52}) {
    for (const double r : {1e2, 1e4, 1e100}) {
      EXPECT_GE(at(kind, r), 0.0);
      EXPECT_LT(at(kind, r), 1e-20);
    }
  }
}

TEST(SpaceKernel, FactorIsMinusTheSlopeOverTheDistance) {
  // dk/dr = -g r for both kinds.
  for (const SpaceKind kind : {SpaceKind::rbf, SpaceKind::matern52}) {
    for (const double r : {0.01, 0.5, 3.0}) {
      Vector k(1);
      Vector g(1);
      kernel(kind).correlations_and_factors(Vector::Constant(1, r * r), k, g);
      EXPECT_DOUBLE_EQ(k(0), at(kind, r));
      EXPECT_NEAR(-g(0) * r, (at(kind, r + 1e-6) - at(kind, r - 1e-6)) / 2e-6, 1e-9);
    }
  }
}

TEST(SpaceKernel, CoincidentPointsAreAtDistanceExactlyZero) {
  const Matrix x = Matrix::Constant(3, 2, 1.0 / 3.0);
  Vector distances(3);
  squared_distances(x, 0, x, 1, distances);
  EXPECT_EQ(distances, Vector::Zero(3));
}

}  // namespace
}  // namespace bapi
