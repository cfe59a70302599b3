#include "bapi/compare/comparison_page.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <set>

#include "small_comparison.h"

namespace bapi {
namespace comparison_page_test {

std::string page_of(const Comparison& comparison) {
  const std::vector<RunRecord> records = testing::all_runs(comparison);
  return comparison_page(comparison, rankings_of(comparison, records), anytime_curves(comparison, records));
}

std::size_t count(const std::string& text, const std::string& what) {
  std::size_t found = 0;
  for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + 1)) ++found;
  return found;
}

TEST(ComparisonPage, NeedsNothingFromOutside) {
  const std::string page = page_of(testing::small_comparison());
  for (const char* outside : {"<link rel=\"stylesheet", "src=", "@import", "url(", "https:"}) {
    EXPECT_EQ(page.find(outside), std::string::npos) << outside;
  }
  // The name of the SVG format is the only address.
  EXPECT_EQ(count(page, "http:"), count(page, "http://www.w3.org/2000/svg"));
}

TEST(ComparisonPage, HasATableADiagramAndACurvePerBudgetAndACurvePerTable) {
  const std::string page = page_of(testing::small_comparison());
  EXPECT_EQ(count(page, "<h2>Budget "), 2u);
  EXPECT_EQ(count(page, "Critical-difference diagram, budget"), 2u);
  EXPECT_EQ(count(page, "<figure"), 2u * (1u + 1u + 2u));
  EXPECT_EQ(count(page, "<figcaption>crossing</figcaption>"), 2u);
  EXPECT_EQ(count(page, "Did the forecasts come true?"), 0u);  // none of these policies forecasts
}

TEST(ComparisonPage, ShowsCalibrationOfPoliciesThatForecast) {
  Comparison comparison = testing::small_comparison();
  comparison.policies = {{"bapi", {.name = "bapi"}}, {"random", {.name = "random"}}};
  comparison.seeds = 1;
  EXPECT_EQ(count(page_of(comparison), "Did the forecasts come true?"), 2u);
}

TEST(ComparisonPage, NamesTablesOnWhichDecisionsAreFreeAlthoughCharged) {
  Comparison comparison = testing::small_comparison();
  EXPECT_TRUE(comparison.free_tables().empty());
  EXPECT_EQ(page_of(comparison).find("whose cost is not in seconds"), std::string::npos);
  comparison.overhead = OverheadCharge::measured;
  comparison.tables[1].cost_unit = "usd";
  EXPECT_EQ(comparison.free_tables(), (std::vector<std::string>{"crossing"}));
  EXPECT_NE(page_of(comparison).find("free of charge on crossing, whose cost is not in seconds"), std::string::npos);
}

TEST(ComparisonPage, EscapesNames) {
  Comparison comparison = testing::small_comparison();
  comparison.tables[0].name = "a<b>&c";
  comparison.policies[0].label = "<random>";
  const std::string page = page_of(comparison);
  EXPECT_EQ(page.find("a<b>"), std::string::npos);
  EXPECT_EQ(page.find("<random>"), std::string::npos);
  EXPECT_NE(page.find("a&lt;b&gt;&amp;c"), std::string::npos);
}

TEST(ComparisonPage, WorksWithOnePolicyOnOneTable) {
  Comparison comparison = testing::small_comparison();
  comparison.tables.resize(1);
  comparison.policies.resize(1);
  comparison.seeds = 1;
  const std::string page = page_of(comparison);
  EXPECT_EQ(page.find("Critical-difference"), std::string::npos);
  EXPECT_EQ(page.find("nan"), std::string::npos);
}

std::string legend_of(const std::string& page) {
  const std::size_t begin = page.find("<ul class=\"legend\">");
  return page.substr(begin, page.find("</ul>", begin) - begin);
}

TEST(ComparisonPage, NamesThePoliciesFromTheBestToTheWorst) {
  const Comparison comparison = testing::small_comparison();
  const std::vector<RunRecord> records = testing::all_runs(comparison);
  const std::vector<Ranking> rankings = rankings_of(comparison, records);
  const std::string legend = legend_of(comparison_page(comparison, rankings, anytime_curves(comparison, records)));
  std::size_t last = 0;
  for (const PolicyStanding& standing : rankings.front().standings) {
    const std::size_t at = legend.find("</svg>" + standing.policy + "</li>");
    ASSERT_NE(at, std::string::npos) << standing.policy;
    EXPECT_GT(at, last);
    last = at;
  }
}

TEST(ComparisonPage, PrintsWhatIsFoldedAway) {
  EXPECT_NE(page_of(testing::small_comparison()).find("addEventListener(\"beforeprint\""), std::string::npos);
}

TEST(ComparisonPage, GivesEveryPolicyALineOfItsOwn) {
  Comparison comparison = testing::small_comparison();
  comparison.policies.clear();
  for (int i = 0; i < 15; ++i) comparison.policies.push_back({fmt::format("p{}", i), {.name = "random"}});
  comparison.seeds = 1;
  const std::string legend = legend_of(page_of(comparison));
  std::set<std::string> strokes;
  for (std::size_t at = legend.find("stroke="); at != std::string::npos; at = legend.find("stroke=", at + 1)) {
    strokes.insert(legend.substr(at, legend.find("/>", at) - at));
  }
  EXPECT_EQ(strokes.size(), 15u);
}

}  // namespace comparison_page_test
}  // namespace bapi
