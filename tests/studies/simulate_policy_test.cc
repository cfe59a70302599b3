#include "bapi/studies/simulate_policy.h"

#include <gtest/gtest.h>

namespace bapi {
namespace {

PolicySimulationOptions small_run() {
  return {.table = "synthetic:power-law,rows=30,epochs=9", .policy = {.name = "hyperband"}, .budget = "4full"};
}

TEST(SimulatePolicy, TheTrajectoryEndsWithTheBestWithinTheBudget) {
  const PolicySimulation run = simulate_policy(small_run());
  EXPECT_LE(run.summary.spent, run.budget);
  ASSERT_FALSE(run.summary.trajectory.empty());
  EXPECT_EQ(run.summary.trajectory.back().second, run.summary.best);
  EXPECT_LE(run.summary.trajectory.back().first, run.summary.spent);
}

TEST(SimulatePolicy, WithoutCheckpointsContinuingCostsMore) {
  PolicySimulationOptions options = small_run();
  const PolicySimulation kept = simulate_policy(options);
  options.checkpoint = Checkpoint::none;
  EXPECT_LT(simulate_policy(options).summary.decisions, kept.summary.decisions);
}

TEST(SimulationRecord, HasItsTrajectoryLast) {
  EXPECT_EQ(simulation_record(simulate_policy(small_run())).back().first, "trajectory");
}

}  // namespace
}  // namespace bapi
