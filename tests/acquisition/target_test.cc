#include "bapi/acquisition/target.h"

#include <gtest/gtest.h>

#include "bapi/base/rng.h"
#include "bapi/math/normal.h"

namespace bapi {
namespace {

double reachable_value(const Vector& means, const Vector& sds, double best, double runs) {
  return bapi::reachable_value(means, sds, Vector::Ones(means.size()), best, runs);
}

struct Outlook {
  Vector means;
  Vector sds;
};

Outlook random_outlook(Rng& rng, int candidates) {
  Outlook outlook{Vector(candidates), Vector(candidates)};
  for (Eigen::Index i = 0; i < candidates; ++i) {
    outlook.means[i] = rng.normal();
    outlook.sds[i] = 0.05 + rng.uniform();
  }
  return outlook;
}

TEST(ReachableValue, OfEqualCandidatesIsPassedByOneOfTheRuns) {
  const Vector means = Vector::Constant(50, 0.5);
  const Vector sds = Vector::Constant(50, 0.2);
  for (const int runs : {2, 4, 10, 50}) {
    const double value = reachable_value(means, sds, 0.4, runs);
    EXPECT_NEAR(runs * normal_cdf((0.5 - value) / 0.2), 1.0, 1e-6) << runs << " runs";
  }
}

TEST(ReachableValue, IsTheIncumbentWhenOneRunIsLeft) {
  Rng rng(1);
  const Outlook outlook = random_outlook(rng, 20);
  for (const double runs : {0.0, 0.7, 1.0, 1.9})
    EXPECT_EQ(reachable_value(outlook.means, outlook.sds, -3.0, runs), -3.0);
}

TEST(ReachableValue, IsTheIncumbentWhereNothingIsLikelyToPassIt) {
  EXPECT_EQ(reachable_value(Vector::Constant(9, 0.0), Vector::Constant(9, 0.1), 1.0, 9), 1.0);
  EXPECT_EQ(reachable_value(Vector(0), Vector(0), 1.0, 9), 1.0);
}

TEST(ReachableValue, NeverFallsAsTheBudgetGrows) {
  Rng rng(2);
  for (int i = 0; i < 100; ++i) {
    const Outlook outlook = random_outlook(rng, 1 + rng.below(40));
    const double best = rng.normal();
    double before = best;
    for (int runs = 1; runs <= 60; ++runs) {
      const double value = reachable_value(outlook.means, outlook.sds, best, runs);
      EXPECT_GE(value, before - 1e-6);
      before = value;
    }
  }
}

TEST(ReachableValue, CountsCertainOutcomes) {
  const Vector means{{1.0, 2.0, 3.0}};
  EXPECT_NEAR(reachable_value(means, Vector::Zero(3), 0.0, 3), 2.0, 1e-6);
}

TEST(ReachableValue, CandidatesThatFailReachNothing) {
  const Vector means{{1.0, 2.0, 3.0, 9.0, 9.0}};
  EXPECT_NEAR(bapi::reachable_value(means, Vector::Zero(5), Vector{{1.0, 1.0, 1.0, 0.0, 0.0}}, 0.0, 5), 2.0, 1e-6);
  const Vector equal = Vector::Constant(50, 0.5);
  const Vector sds = Vector::Constant(50, 0.2);
  EXPECT_LT(bapi::reachable_value(equal, sds, Vector::Constant(50, 0.5), 0.4, 10),
            reachable_value(equal, sds, 0.4, 10));
}

}  // namespace
}  // namespace bapi
