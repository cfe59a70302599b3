#include "bapi/compare/comparison_tables.h"

#include <gtest/gtest.h>

#include <limits>
#include <nlohmann/json.hpp>

#include "small_comparison.h"

namespace bapi {
namespace {

class Listings : public ::testing::Test {
 protected:
  Listings() : log_(directory_.path(), comparison_) {
    run_comparison(comparison_, log_, {});
    records_ = records_of(comparison_, log_);
    rankings_ = rankings_of(comparison_, records_);
  }

  const Comparison comparison_ = testing::small_comparison();
  const testing::Directory directory_;
  RunLog log_;
  std::vector<RunRecord> records_;
  std::vector<Ranking> rankings_;
};

TEST_F(Listings, HaveOneLinePerRunRankAndGridPoint) {
  EXPECT_EQ(runs_table(records_).rows().size(), 2u * 3u * 2u * 2u);
  EXPECT_EQ(ranks_table(rankings_).rows().size(), 2u * 3u);
  EXPECT_EQ(duels_table(rankings_).rows().size(), 2u * 2u);
  EXPECT_EQ(curves_table(anytime_curves(comparison_, records_)).rows().size(), 2u * 3u * 3u * anytime_grid().size());
}

TEST_F(Listings, SummaryNamesEveryPolicyAtEveryBudget) {
  const std::string text = summary_text(rankings_);
  EXPECT_NE(text.find("budget 2full, 1 worker: 2 tables, 2 seeds"), std::string::npos);
  EXPECT_NE(text.find("budget 5full"), std::string::npos);
  for (const char* policy : {"random", "halving", "asha"}) EXPECT_NE(text.find(policy), std::string::npos);
}

TEST_F(Listings, SummaryIsValidJson) {
  const auto json = nlohmann::json::parse(to_json(summary_cell(rankings_)));
  ASSERT_EQ(json.size(), 2u);
  EXPECT_EQ(json[0]["ranks"].size(), 3u);
  EXPECT_EQ(json[0]["duels"].size(), 2u);
}

TEST_F(Listings, GiveNoFWhereAllTablesAgree) {
  Ranking ranking = rankings_.front();
  ranking.friedman.f = std::numeric_limits<double>::infinity();
  ranking.friedman.f_p = 0.0;
  EXPECT_NE(tests_text(ranking).find("Iman-Davenport F – on"), std::string::npos);
  EXPECT_EQ(tests_text(ranking).find("inf"), std::string::npos);
  const auto json = nlohmann::json::parse(to_json(summary_cell(std::span(&ranking, 1))));
  EXPECT_TRUE(json[0]["friedman"]["f"].is_null());
  EXPECT_TRUE(json[0]["friedman"]["f_p"].is_null());
}

TEST_F(Listings, ARunWithoutAResultHasAnEmptyFinal) {
  RunRecord nothing = records_.front();
  nothing.final = std::nullopt;
  const std::string csv = render(runs_table(std::span(&nothing, 1)), Format::csv);
  EXPECT_NE(csv.find("2full,1,,"), std::string::npos) << csv;
}

}  // namespace
}  // namespace bapi
