#include "bapi/compare/critical_difference.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace bapi {
namespace {

Ranking ranking_with(const std::vector<double>& ranks, double difference) {
  Ranking ranking{.budget = "5full", .tables = 13, .seeds = 10, .critical_difference = difference};
  for (const double rank : ranks) {
    ranking.standings.push_back({.policy = fmt::format("p{}", ranking.standings.size()),
                                 .rank = {rank, 0.1},
                                 .seed_rank = {rank, 0.1},
                                 .regret = {0.1, 0.01}});
  }
  return ranking;
}

std::size_t count(const std::string& text, const std::string& what) {
  std::size_t found = 0;
  for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + 1)) ++found;
  return found;
}

TEST(CriticalDifferenceDiagram, NamesEveryPolicyWithItsRank) {
  const std::string svg = critical_difference_diagram(
      ranking_with({1.2, 2.1, 2.7}, 1.0), FigureStyle::of_page(500.0, 0.0), Surroundings::page);
  for (const char* label : {"p0 1.20", "p1 2.10", "p2 2.70", "CD 1.00"}) EXPECT_EQ(count(svg, label), 1u) << label;
}

TEST(CriticalDifferenceDiagram, DrawsOneBarPerGroup) {
  Ranking ranking = ranking_with({1.2, 2.1, 2.7}, 1.0);
  const FigureStyle style = FigureStyle::of_page(500.0, 0.0);
  const std::string none = critical_difference_diagram(ranking, style, Surroundings::page);
  ranking.nemenyi_groups = {{0, 1}, {1, 2}};
  ranking.wilcoxon_groups = {{1, 2}};
  const std::string three = critical_difference_diagram(ranking, style, Surroundings::page);
  EXPECT_EQ(count(three, "stroke-width=\"4\""), count(none, "stroke-width=\"4\"") + 3u);
}

TEST(CriticalDifferenceDiagram, StaysInsideItsWidth) {
  // A difference longer than the line of ranks, and names longer than their room.
  Ranking ranking = ranking_with({1.0, 2.0}, 30.0);
  ranking.standings[0].policy = std::string(80, 'x');
  const std::string svg = critical_difference_diagram(ranking, FigureStyle::of_page(500.0, 0.0), Surroundings::page);
  for (std::size_t at = svg.find("x2=\""); at != std::string::npos; at = svg.find("x2=\"", at + 1)) {
    EXPECT_LE(std::stod(svg.substr(at + 4)), 500.0);
  }
  EXPECT_EQ(svg.find(std::string(40, 'x')), std::string::npos);
  EXPECT_NE(svg.find("… 1.00<"), std::string::npos);
}

}  // namespace
}  // namespace bapi
