#include "bapi/tables/simulate.h"

#include <gtest/gtest.h>

#include <limits>

#include "bapi/base/error.h"
#include "bapi/policy/rivals/random_search.h"
#include "tests/support/tables.h"

namespace bapi {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

SimulationSummary random_search(const CurveTable& table, Cost budget) {
  const PolicySpec spec{.name = "random"};
  RandomSearch policy(spec);
  return simulate(table, spec, policy, {.budget = budget, .seed = 1});
}

TEST(Simulate, ARunWithoutAResultHasNoValueAndTheWorstRegret) {
  CurveTable table = test::small_table(6, 4);
  for (CurveTable::Run& run : table.runs) run.cost.front() = 5.0;
  const SimulationSummary summary = random_search(table, 1.0);
  EXPECT_EQ(summary.best, std::nullopt);
  EXPECT_TRUE(summary.trajectory.empty());
  EXPECT_EQ(summary.normalised_regret, kRegretCap);
  EXPECT_DOUBLE_EQ(summary.regret, kRegretCap * (table.best() - table.median_final()));
}

TEST(Simulate, TheLastImprovementIsTheResult) {
  const CurveTable table = test::small_table(6, 4);
  const SimulationSummary summary = random_search(table, 20.0);
  EXPECT_EQ(summary.best, summary.trajectory.back().second);
  EXPECT_DOUBLE_EQ(summary.regret, table.best() - *summary.best);
}

TEST(Simulate, RefusesATableWithoutAFiniteValue) {
  CurveTable table = test::small_table(3, 2);
  for (CurveTable::Run& run : table.runs) run.value = {kNan, kNan};
  EXPECT_THROW(random_search(table, 20.0), InvalidInput);
}

TEST(Simulate, RefusesABudgetOfNothing) { EXPECT_THROW(random_search(test::small_table(3, 2), 0.0), InvalidInput); }

}  // namespace
}  // namespace bapi
