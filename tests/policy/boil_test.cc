#include "bapi/policy/rivals/boil.h"

#include <gtest/gtest.h>

#include "bapi/tables/simulate.h"
#include "tests/support/tables.h"

namespace bapi {
namespace {

const PolicySpec kQuick{.name = "boil", .options = {{"fit_trials", std::int64_t{4}}}};

TEST(Boil, ChoosesLengthsOfItsOwnAfterFullRuns) {
  const CurveTable table = test::small_table(60, 27);
  const PolicySpec unfitted{.name = "boil", .options = {{"fit_trials", std::int64_t{0}}}};
  const SimulationSummary summary =
      simulate(table, unfitted, *make_policy(unfitted), {.budget = 10.0 * table.mean_full_cost(), .seed = 2});
  int started = 0;
  bool shorter = false;
  for (const StoredEvent& stored : summary.events) {
    const auto* start = std::get_if<TrialStarted>(&stored.event);
    if (!start) continue;
    if (started++ < 2) {
      EXPECT_EQ(start->until, 27);
    } else if (start->until < 27 && !start->why.shortened_from) {
      shorter = true;
    }
  }
  EXPECT_TRUE(shorter);
}

TEST(Boil, FindsAPeakWithFewerRunsThanRandomSearch) {
  const CurveTable table = test::small_table(100, 9);
  const Cost budget = 8.0 * table.mean_full_cost();
  double boil = 0.0;
  double random = 0.0;
  for (std::uint64_t seed = 0; seed < 4; ++seed) {
    boil += simulate(table, {}, *make_policy(kQuick), {.budget = budget, .seed = seed}).regret;
    random += simulate(table, {}, *make_policy({.name = "random"}), {.budget = budget, .seed = seed}).regret;
  }
  EXPECT_LT(boil, random);
}

}  // namespace
}  // namespace bapi
