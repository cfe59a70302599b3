#include "bapi/compare/comparison.h"

#include <gtest/gtest.h>

#include <limits>
#include <set>

#include "bapi/base/error.h"
#include "small_comparison.h"

namespace bapi {
namespace {

using testing::small_comparison;

TEST(Comparison, HasOneKeyPerTablePolicySeedBudgetAndWorkers) {
  Comparison comparison = small_comparison();
  comparison.workers = {1, 4};
  const std::vector<RunKey> keys = keys_of(comparison);
  EXPECT_EQ(keys.size(), 2u * 3u * 2u * 2u * 2u);
  EXPECT_EQ(std::set<RunKey>(keys.begin(), keys.end()).size(), keys.size());
}

TEST(Comparison, GoesSeedBySeedAndDearestFirst) {
  const std::vector<RunKey> keys = keys_of(small_comparison());
  EXPECT_TRUE(
      std::is_sorted(keys.begin(), keys.end(), [](const RunKey& a, const RunKey& b) { return a.seed < b.seed; }));
  EXPECT_EQ(keys.front().budget, "5full");
}

TEST(Comparison, RefusesWhatStandsTwiceOrNotAtAll) {
  const auto refused = [](auto change) {
    Comparison comparison = small_comparison();
    change(comparison);
    EXPECT_THROW(comparison.validate(), InvalidInput);
  };
  EXPECT_NO_THROW(small_comparison().validate());
  refused([](Comparison& c) { c.tables.push_back(c.tables.front()); });
  refused([](Comparison& c) { c.tables.clear(); });
  refused([](Comparison& c) { c.policies.push_back({"random", {.name = "asha"}}); });
  refused([](Comparison& c) { c.policies.push_back({"other", {.name = "no such"}}); });
  refused([](Comparison& c) { c.budgets.push_back(parse_table_budget("2.0full")); });
  refused([](Comparison& c) { c.seeds = 0; });
  refused([](Comparison& c) { c.workers = {0}; });
  refused([](Comparison& c) {
    for (double& v : c.tables.front().runs.front().value) v = std::numeric_limits<double>::quiet_NaN();
    c.tables.front().runs.resize(1);
    c.tables.front().configs.resize(1);
  });
}

TEST(PolicyText, WritesOptionsInTheOrderOfTheirNames) {
  const PolicySpec spec{.name = "bapi-4", .options = {{"horizon", std::int64_t{8}}, {"epsilon", 0.5}}};
  EXPECT_EQ(to_text(spec), "bapi-4:epsilon=0.5:horizon=8");
}

}  // namespace
}  // namespace bapi
