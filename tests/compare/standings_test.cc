#include "bapi/compare/standings.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>

#include "small_comparison.h"

namespace bapi {
namespace {

// Regrets by [policy][table][seed] at one budget.
using Regrets = std::vector<std::vector<std::vector<double>>>;

struct Made {
  Comparison comparison;
  std::vector<RunRecord> records;
};

Made made_of(const Regrets& regrets) {
  Made made;
  made.comparison.seeds = static_cast<int>(regrets[0][0].size());
  made.comparison.budgets = {parse_table_budget("2full")};
  for (std::size_t t = 0; t < regrets[0].size(); ++t) {
    made.comparison.tables.push_back(testing::small_table(CurveShape::power_law, fmt::format("t{}", t)));
  }
  for (std::size_t p = 0; p < regrets.size(); ++p) {
    const std::string label(1, static_cast<char>('a' + p));
    made.comparison.policies.push_back({label, {.name = "random"}});
    for (std::size_t t = 0; t < regrets[p].size(); ++t) {
      for (std::size_t s = 0; s < regrets[p][t].size(); ++s) {
        made.records.push_back(
            {.key = {.table = fmt::format("t{}", t), .policy = label, .budget = "2full", .workers = 1, .seed = s},
             .normalised_regret = regrets[p][t][s]});
      }
    }
  }
  return made;
}

Ranking ranking_of(const Regrets& regrets) {
  const Made made = made_of(regrets);
  return rankings_of(made.comparison, made.records).front();
}

TEST(Rankings, RankMeansOverSeedsTableByTable) {
  // Table 0: means a .2, b .3, c .2 (a and c tie). Table 1: a .1, b .2, c .4.
  const Ranking ranking = ranking_of({{{.1, .3}, {.1, .1}}, {{.3, .3}, {.2, .2}}, {{.3, .1}, {.4, .4}}});
  ASSERT_EQ(ranking.standings.size(), 3u);
  EXPECT_EQ(ranking.standings[0].policy, "a");
  EXPECT_EQ(ranking.standings[0].rank.mean, 1.25);
  EXPECT_NEAR(ranking.standings[0].rank.error, 0.25, 1e-15);  // of 1.5 and 1
  EXPECT_EQ(ranking.standings[1].policy, "c");
  EXPECT_EQ(ranking.standings[1].rank.mean, 2.25);  // 1.5 and 3
  EXPECT_EQ(ranking.standings[2].rank.mean, 2.5);   // 3 and 2
}

TEST(Rankings, SeedRanksCompareWithinASeed) {
  // Seed 0: a 1, b 2.5, c 2.5; seed 1: a 2.5, b 2.5, c 1.
  const Ranking ranking = ranking_of({{{.1, .3}}, {{.3, .3}}, {{.3, .1}}});
  for (const PolicyStanding& standing : ranking.standings) {
    EXPECT_DOUBLE_EQ(standing.seed_rank.mean, standing.policy == "b" ? 2.5 : 1.75);
  }
}

TEST(Rankings, RegretIsCappedAndItsErrorIsThatOfTheSeeds) {
  const Ranking ranking = ranking_of({{{.1, .3}, {40.0, 2.0}}});
  EXPECT_DOUBLE_EQ(ranking.standings[0].regret.mean, 0.5 * (.2 + kRegretCap));
  // Errors of the tables: 0.1 and 0 (both capped); of their mean sqrt(0.01) / 2.
  EXPECT_DOUBLE_EQ(ranking.standings[0].regret.error, 0.05);
  EXPECT_TRUE(ranking.duels.empty());
}

TEST(Rankings, TheBestMeetsEveryRivalOverTheTables) {
  Regrets regrets(3, std::vector<std::vector<double>>(8, std::vector<double>(2)));
  for (std::size_t t = 0; t < 8; ++t) {
    const double x = 0.01 * static_cast<double>(t);
    regrets[0][t] = {.1, .1};
    regrets[1][t] = {.2 + x, .2 + x};
    regrets[2][t] = t == 0 ? std::vector{.1, .1} : std::vector{.3 + x, .3 + x};
  }
  const Ranking ranking = ranking_of(regrets);
  ASSERT_EQ(ranking.duels.size(), 2u);
  EXPECT_EQ(ranking.duels[0].rival, "b");
  EXPECT_EQ(ranking.duels[0].wins, 8);
  EXPECT_NEAR(ranking.duels[0].test.p, 2.0 / 256.0, 1e-15);
  EXPECT_NEAR(ranking.duels[0].adjusted_p, 4.0 / 256.0, 1e-15);
  EXPECT_EQ(ranking.duels[1].ties, 1);
  EXPECT_NEAR(ranking.duels[1].adjusted_p, 4.0 / 256.0, 1e-15);  // 2 / 2^7 on seven tables, not below the first
  // Average ranks 1.06, 2.06 and 2.88; the critical difference 1.17 tells only the first and the last apart, signed
  // ranks tell the first from both.
  using Groups = std::vector<std::pair<std::size_t, std::size_t>>;
  EXPECT_NEAR(ranking.critical_difference, 1.17, 0.01);
  EXPECT_EQ(ranking.nemenyi_groups, (Groups{{0, 1}, {1, 2}}));
  EXPECT_EQ(ranking.wilcoxon_groups, (Groups{{1, 2}}));
}

TEST(Rankings, CoverageIsPooledOverRunsByTheirCounts) {
  Made made = made_of({{{.1, .1}}, {{.2, .2}}});
  made.records[0].calibration.value = {.count = 1, .within_50 = 1.0, .within_80 = 1.0, .within_95 = 1.0};
  made.records[1].calibration.value = {.count = 3, .within_50 = 1.0 / 3.0, .within_80 = 1.0, .within_95 = 1.0};
  const Ranking ranking = rankings_of(made.comparison, made.records).front();
  EXPECT_EQ(ranking.standings[0].value_coverage.count, 4);
  EXPECT_DOUBLE_EQ(ranking.standings[0].value_coverage.within_50, 0.5);
  EXPECT_EQ(ranking.standings[1].value_coverage.count, 0);
}

}  // namespace
}  // namespace bapi
