#include "tests/support/simulated_cluster.h"

#include <gtest/gtest.h>

namespace bapi {
namespace simulated_cluster_test {

constexpr int kSeeds = 200;  // tests/slow has many more

TEST(SimulatedCluster, KeepsItsLawsWhateverHappens) {
  for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
    EXPECT_EQ(test::simulate_cluster(seed).violation, "") << "seed " << seed;
  }
}

TEST(SimulatedCluster, HappensTheSameWayEveryTime) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    const test::ClusterOutcome first = test::simulate_cluster(seed);
    const test::ClusterOutcome again = test::simulate_cluster(seed);
    EXPECT_EQ(first.digest, again.digest) << seed;
    EXPECT_EQ(first.spent, again.spent) << seed;
    EXPECT_EQ(first.seconds, again.seconds) << seed;
  }
}

// Where nothing goes wrong, leases cost nothing: all but start-up, epochs that were broken off and the last moments
// buys epochs.
TEST(SimulatedCluster, SpendsTheBudgetOnEpochsIfNothingGoesWrong) {
  test::ClusterPlan plan;
  plan.fault_every = std::numeric_limits<double>::infinity();
  plan.workers = 4;
  plan.slots = 2;
  plan.spec = {.name = "calm", .budget = {.limit = 1000.0}, .epochs = {.min = 1, .max = 9}, .workers = 8};
  plan.spec.grace = 0.3;
  const test::ClusterOutcome outcome = test::SimulatedCluster(1, plan).run();
  EXPECT_EQ(outcome.violation, "");
  EXPECT_EQ(outcome.lost, 0.0);
  EXPECT_EQ(outcome.leaders, 1);
  EXPECT_EQ(outcome.lives, 4);
  EXPECT_GT(outcome.spent, 0.95 * outcome.total);
  EXPECT_GT(outcome.epochs, 0.75 * outcome.total);
}

}  // namespace simulated_cluster_test
}  // namespace bapi
