#include "tests/support/simulated_cluster.h"

#include <gtest/gtest.h>

namespace bapi {
namespace many_clusters_test {

// Sixty seeds do not find what ten thousand do.
class ManyClusters : public testing::TestWithParam<int> {};

TEST_P(ManyClusters, KeepTheirLawsWhateverHappens) {
  constexpr std::uint64_t kSeedsEach = 1000;
  const auto first = static_cast<std::uint64_t>(GetParam()) * kSeedsEach;
  for (std::uint64_t seed = first; seed < first + kSeedsEach; ++seed) {
    EXPECT_EQ(test::simulate_cluster(seed).violation, "") << "seed " << seed;
  }
}

INSTANTIATE_TEST_SUITE_P(Seeds, ManyClusters, testing::Range(0, 10));

// Of the time of 64 slots, with epochs of ten seconds, leases of a minute, and a worker that dies every minute and is
// replaced within half a minute.
TEST(SimulatedClusterOf64, KeepsSlotsBusyThoughAWorkerIsLostEveryMinute) {
  test::ClusterPlan plan;
  plan.fault_every = std::numeric_limits<double>::infinity();
  plan.workers = 64;
  plan.lease = 60.0;
  plan.lost_every = 60.0;
  plan.epoch_seconds = 10.0;
  plan.waits = 0.0;
  plan.spec = {.name = "busy", .budget = {.limit = 64.0 * 600.0}, .epochs = {.min = 1, .max = 9}, .workers = 64};
  plan.spec.grace = 1.0;
  const test::ClusterOutcome outcome = test::SimulatedCluster(1, plan).run();
  EXPECT_EQ(outcome.violation, "");
  EXPECT_GT(outcome.lives, 64 + 7);
  const double slots = 64.0 * outcome.ended;
  RecordProperty("busy", fmt::format("{:.3f}", outcome.trained / slots));
  RecordProperty("epochs", fmt::format("{:.3f}", outcome.epochs / slots));
  EXPECT_GT(outcome.trained, 0.95 * slots);
  EXPECT_GT(outcome.epochs, 0.85 * slots);
}

}  // namespace many_clusters_test
}  // namespace bapi
