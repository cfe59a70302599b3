#include "bapi/policy/rivals/glasses.h"

#include <gtest/gtest.h>

#include "bapi/tables/simulate.h"
#include "tests/support/finished_runs.h"
#include "tests/support/tables.h"

namespace bapi {
namespace {

TEST(Glasses, TrainsToTheEndWhatIsWorthMostWithItsFuture) {
  const PolicySpec spec{.name = "glasses"};
  const History history = test::finished_runs(test::small_table(40, 3), spec, {3, 17, 33});
  Rng rng(6);
  const Start start = std::get<Start>(make_policy(spec)->ask(history, rng));
  EXPECT_EQ(start.until, 3);
  EXPECT_EQ(start.why.rule, Rule::improvement_with_future);
  EXPECT_GT(*start.why.note(NoteKind::steepest_slope), 0.0);
}

TEST(Glasses, FindsAPeakWithFewerRunsThanRandomSearch) {
  const CurveTable table = test::small_table(100, 9);
  const Cost budget = 10.0 * table.mean_full_cost();
  const PolicySpec quick{.name = "glasses", .options = {{"draws", std::int64_t{64}}}};
  double guessed = 0.0;
  double random = 0.0;
  for (std::uint64_t seed = 0; seed < 4; ++seed) {
    guessed += simulate(table, {}, *make_policy(quick), {.budget = budget, .seed = seed}).regret;
    random += simulate(table, {}, *make_policy({.name = "random"}), {.budget = budget, .seed = seed}).regret;
  }
  EXPECT_LT(guessed, 0.5 * random);
}

}  // namespace
}  // namespace bapi
