#include "bapi/tables/synthetic.h"

#include <gtest/gtest.h>

#include <cmath>

#include "bapi/base/error.h"

namespace bapi {
namespace {

bool crashes(const CurveTable::Run& run) { return !std::isfinite(run.value.back()); }

int crashing(const CurveTable& table) {
  int count = 0;
  for (const CurveTable::Run& run : table.runs) count += crashes(run) ? 1 : 0;
  return count;
}

TEST(Synthetic, FailuresCutCurvesShortAndChangeNothingElse) {
  const SyntheticOptions plain{.shape = CurveShape::crossing, .rows = 400, .seed = 3};
  SyntheticOptions options = plain;
  options.failures = 0.05;
  const CurveTable whole = synthetic_table(plain);
  const CurveTable cut = synthetic_table(options);
  EXPECT_EQ(crashing(whole), 0);
  EXPECT_GT(crashing(cut), 8);
  EXPECT_LT(crashing(cut), 40);
  ASSERT_EQ(cut.configs, whole.configs);
  for (std::size_t i = 0; i < cut.runs.size(); ++i) {
    const std::size_t sound = cut.runs[i].value.size() - (crashes(cut.runs[i]) ? 1 : 0);
    for (std::size_t t = 0; t < sound; ++t) EXPECT_EQ(cut.runs[i].value[t], whole.runs[i].value[t]);
    for (std::size_t t = 0; t < cut.runs[i].cost.size(); ++t) EXPECT_EQ(cut.runs[i].cost[t], whole.runs[i].cost[t]);
  }
  EXPECT_EQ(crashing(synthetic_table(options)), crashing(cut)) << "the seed decides";
}

TEST(Synthetic, ARegionCrashesInItsFirstEpoch) {
  const CurveTable table = synthetic_table({.rows = 200, .crash = 0.25, .seed = 4});
  EXPECT_EQ(crashing(table), 50);
  for (const CurveTable::Run& run : table.runs) {
    EXPECT_TRUE(!crashes(run) || run.value.size() == 1U);
  }
}

TEST(Synthetic, LateStartersShowNothingForAThirdOfTheirEpochs) {
  const CurveTable table = synthetic_table({.shape = CurveShape::late, .rows = 50, .epochs = 60, .noise = 0.0});
  double best = 0.0;
  for (const CurveTable::Run& run : table.runs) {
    for (std::size_t t = 0; t < 20; ++t) EXPECT_EQ(run.value[t], run.value[0]);
    EXPECT_GT(run.value.back(), run.value[0]);
    best = std::max(best, run.value.back());
  }
  EXPECT_GT(best, 0.6);
}

TEST(Synthetic, SharesOfFailuresAreBelowOne) {
  EXPECT_THROW(synthetic_table({.failures = 1.0}), InvalidInput);
  EXPECT_THROW(synthetic_table({.failures = -0.1}), InvalidInput);
  EXPECT_THROW(synthetic_table({.crash = 1.5}), InvalidInput);
}

}  // namespace
}  // namespace bapi
