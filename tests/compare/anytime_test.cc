#include "bapi/compare/anytime.h"

#include <gtest/gtest.h>

#include "bapi/compare/standings.h"
#include "small_comparison.h"

namespace bapi {
namespace {

TEST(AnytimeRegret, HoldsEveryValueUntilTheNextImprovement) {
  RunRecord run;
  run.trajectory = {{0.03, 7.0}, {0.5, 0.4}, {1.0 + 1e-12, 0.1}};
  const std::vector<double> grid = anytime_grid();
  const std::vector<double> regret = anytime_regret(run);
  ASSERT_EQ(regret.size(), grid.size());
  EXPECT_EQ(grid.back(), 1.0);
  for (std::size_t i = 0; i + 1 < grid.size(); ++i) EXPECT_EQ(regret[i], grid[i] < 0.499 ? kRegretCap : 0.4) << grid[i];
  EXPECT_EQ(regret.back(), 0.1);
}

TEST(AnytimeRegret, WithoutAnyResultIsTheCap) {
  for (const double regret : anytime_regret({})) EXPECT_EQ(regret, kRegretCap);
}

TEST(AnytimeCurves, NeverRiseAndEndWhereTheRunsEnd) {
  const Comparison comparison = testing::small_comparison();
  const std::vector<RunRecord> records = testing::all_runs(comparison);
  const std::vector<AnytimeCurve> curves = anytime_curves(comparison, records);
  EXPECT_EQ(curves.size(), 2u * (1u + 2u) * 3u);  // budgets, all and each table, policies
  for (const AnytimeCurve& curve : curves) {
    for (std::size_t i = 1; i < curve.regret.size(); ++i) {
      EXPECT_LE(curve.regret[i].mean, curve.regret[i - 1].mean + 1e-12);
    }
  }
  for (const Ranking& ranking : rankings_of(comparison, records)) {
    for (const PolicyStanding& standing : ranking.standings) {
      for (const AnytimeCurve& curve : curves) {
        if (!curve.table.empty() || curve.policy != standing.policy || curve.budget != ranking.budget) continue;
        EXPECT_NEAR(curve.regret.back().mean, standing.regret.mean, 1e-12);
        EXPECT_NEAR(curve.regret.back().error, standing.regret.error, 1e-12);
      }
    }
  }
}

}  // namespace
}  // namespace bapi
