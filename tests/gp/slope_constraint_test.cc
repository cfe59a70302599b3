#include "bapi/gp/slope_constraint.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "bapi/base/error.h"
#include "tests/support/curves.h"

namespace bapi {
namespace slope_constraint_test {

ExactGp model(TimeKind kind, double lengthscale, Epoch max_epoch) {
  Rng rng(1);
  const curves::Data data = curves::simulate(5, 2, max_epoch, rng);
  GpParameters parameters = curves::structure(kind, 2);
  parameters.kernel.time.lengthscale = lengthscale;
  return ExactGp(data.rows, data.y, parameters);
}

TEST(SlopeConstraint, ExponentialDecayIsHeldAtBothEnds) {
  SlopeConstraint slopes = slope_constraint(model(TimeKind::exponential_decay, 0.4, 50), 1);
  std::sort(slopes.epoch.begin(), slopes.epoch.end());
  EXPECT_EQ(slopes.epoch, (std::vector<Epoch>{0, 50}));
}

TEST(SlopeConstraint, RbfRowsAreAtMostHalfALengthscaleApart) {
  for (const double lengthscale : {0.1, 0.23, 0.4, 0.9, 2.0}) {
    for (const Epoch max_epoch : {20, 50, 81, 300}) {
      SlopeConstraint slopes = slope_constraint(model(TimeKind::rbf, lengthscale, max_epoch), 1);
      std::sort(slopes.epoch.begin(), slopes.epoch.end());
      EXPECT_EQ(slopes.epoch.front(), 1);
      EXPECT_EQ(slopes.epoch.back(), max_epoch);
      EXPECT_LE(slopes.size(), 24);
      for (std::size_t i = 1; i < slopes.epoch.size(); ++i) {
        // A whole epoch is the least distance there is, and there are at most 24 rows.
        const double least = std::max(1.0, std::ceil((max_epoch - 1) / 23.0));
        EXPECT_LE(slopes.epoch[i] - slopes.epoch[i - 1], std::max(least, 0.5 * lengthscale * max_epoch));
      }
    }
  }
}

TEST(SlopeConstraint, NoiseIsRelativeToEachSlopesOwnVariance) {
  const ExactGp gp = model(TimeKind::exponential_decay, 0.4, 50);
  const SlopeConstraint slopes = slope_constraint(gp, 1, {.relative_noise = 1e-4});
  const Vector own = gp.covariance().variances(slopes.rows(Vector::Constant(2, 0.3), 7));
  for (int i = 0; i < slopes.size(); ++i) EXPECT_NEAR(slopes.noise[i], 1e-4 * own[i], 1e-12 * own[i]);
  EXPECT_GT(own.maxCoeff() / own.minCoeff(), 10.0);
}

TEST(SlopeConstraint, SwitchedOffHasNoRows) {
  EXPECT_EQ(slope_constraint(model(TimeKind::rbf, 0.4, 50), 1, {.monotone = Monotonicity::off}).size(), 0);
}

TEST(SlopeConstraint, RefusesOptionsThatMakeNoSense) {
  const ExactGp gp = model(TimeKind::rbf, 0.4, 50);
  EXPECT_THROW(slope_constraint(gp, 1, {.relative_noise = 0.0}), InvalidInput);
  EXPECT_THROW(slope_constraint(gp, 1, {.max_rows = 1}), InvalidInput);
}

}  // namespace slope_constraint_test
}  // namespace bapi
