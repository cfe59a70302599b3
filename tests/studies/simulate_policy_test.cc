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

Cost repeated(const PolicySimulation& run) {
  Cost sum = 0.0;
  for (const StoredEvent& stored : run.summary.events) {
    const auto* overhead = std::get_if<Overhead>(&stored.event);
    if (overhead && overhead->kind == OverheadKind::repeat) sum += overhead->cost;
  }
  return sum;
}

TEST(SimulatePolicy, WithoutCheckpointsEpochsArePaidAgain) {
  PolicySimulationOptions options = small_run();
  EXPECT_EQ(repeated(simulate_policy(options)), 0.0);
  options.checkpoint = Checkpoint::none;
  EXPECT_GT(repeated(simulate_policy(options)), 0.0);
}

TEST(SimulationRecord, HasItsTrajectoryLast) {
  EXPECT_EQ(simulation_record(simulate_policy(small_run())).back().first, "trajectory");
}

}  // namespace
}  // namespace bapi
