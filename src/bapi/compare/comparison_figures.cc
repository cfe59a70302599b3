#include "bapi/compare/comparison_figures.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "bapi/base/error.h"
#include "bapi/compare/critical_difference.h"

namespace bapi {
namespace {

// Those of Okabe and Ito that can be seen on white and on black; beyond seven policies, dashes tell them apart.
constexpr std::array<const char*, 7> kColors = {
    "#0090d8", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#8c8c8c"};
constexpr std::array<const char*, 4> kDashes = {"", "6 3", "2 3", "9 3 2 3"};

const Stroke& stroke_of(const std::string& policy, std::span<const PolicyStroke> strokes) {
  const auto found =
      std::find_if(strokes.begin(), strokes.end(), [&](const PolicyStroke& s) { return s.policy == policy; });
  check(found != strokes.end(), "anytime_figure: a policy without a line");
  return found->stroke;
}

// A figure with the legend below it, in columns.
std::string with_legend(const std::string& figure, std::span<const PolicyStroke> strokes, const FigureStyle& style) {
  constexpr int kLine = 18;
  constexpr int kColumn = 125;
  const auto columns = static_cast<std::size_t>(std::max(1.0, style.width / kColumn));
  const std::size_t rows = (strokes.size() + columns - 1) / columns;
  std::string legend;
  for (std::size_t i = 0; i < strokes.size(); ++i) {
    const double x = 10.0 + kColumn * static_cast<double>(i % columns);
    const double y = style.height + kLine * static_cast<double>(i / columns) + 8.0;
    const Stroke& stroke = strokes[i].stroke;
    legend += fmt::format(R"(<line x1="{0}" y1="{1}" x2="{2}" y2="{1}" stroke="{3}" stroke-width="3" )"
                          R"(stroke-dasharray="{4}"/><text x="{5}" y="{6}" font-size="12" fill="{7}">{8}</text>)"
                          "\n",
                          x,
                          y,
                          x + 26.0,
                          stroke.color,
                          stroke.dash.empty() ? "none" : stroke.dash,
                          x + 32.0,
                          y + 4.0,
                          style.ink,
                          xml_escaped(strokes[i].policy));
  }
  return fmt::format(
      R"(<svg xmlns="http://www.w3.org/2000/svg" width="{0}" height="{1}" viewBox="0 0 {0} {1}" role="img")"
      R"( font-family="system-ui, -apple-system, 'Segoe UI', 'DejaVu Sans', Helvetica, Arial, sans-serif">)"
      R"(<rect width="100%" height="100%" fill="{2}"/>)"
      "\n{3}{4}</svg>\n",
      style.width,
      style.height + kLine * static_cast<double>(rows) + 8.0,
      style.paper,
      figure,
      legend);
}

}  // namespace

std::vector<PolicyStroke> policy_strokes(std::span<const Ranking> rankings) {
  std::vector<PolicyStroke> strokes;
  const std::vector<PolicyStanding>& best_first = rankings.front().standings;
  for (std::size_t i = 0; i < best_first.size(); ++i) {
    strokes.push_back({.policy = best_first[i].policy,
                       .stroke = {.color = kColors[i % kColors.size()],
                                  .width = i == 0 ? 3.0 : 2.0,
                                  .dash = kDashes[i / kColors.size() % kDashes.size()]}});
  }
  return strokes;
}

std::string anytime_figure(std::span<const AnytimeCurve* const> curves,
                           std::span<const PolicyStroke> strokes,
                           const FigureStyle& style) {
  const std::vector<double> grid = anytime_grid();
  std::vector<double> values{0.0};
  for (const AnytimeCurve* curve : curves) {
    for (const MeanAndError& regret : curve->regret) values.push_back(regret.mean);
  }
  Axis y = axis_over(values, "normalised regret");
  y.low = 0.0;
  Figure figure("", "", {.label = "share of the budget", .low = 0.0, .high = 1.0}, y, {}, style);
  for (const AnytimeCurve* curve : curves) {
    std::vector<Point> middle;
    std::vector<Point> upper;
    std::vector<Point> lower;
    for (std::size_t i = 0; i < grid.size(); ++i) {
      const MeanAndError& regret = curve->regret[i];
      middle.push_back({grid[i], regret.mean});
      upper.push_back({grid[i], regret.mean + regret.error});
      lower.push_back({grid[i], regret.mean - regret.error});
    }
    const Stroke& stroke = stroke_of(curve->policy, strokes);
    figure.band(upper, lower, stroke.color, 0.12);
    figure.line(middle, stroke);
  }
  return figure.svg();
}

std::vector<ComparisonFigures> comparison_figures(std::span<const Ranking> rankings,
                                                  std::span<const AnytimeCurve> curves) {
  const std::vector<PolicyStroke> strokes = policy_strokes(rankings);
  std::vector<ComparisonFigures> figures;
  for (const Ranking& ranking : rankings) {
    std::vector<const AnytimeCurve*> over_all_tables;
    for (const AnytimeCurve& curve : curves) {
      const bool here = curve.table.empty() && curve.budget == ranking.budget && curve.workers == ranking.workers;
      if (here) over_all_tables.push_back(&curve);
    }
    ComparisonFigures& made = figures.emplace_back();
    if (ranking.standings.size() >= 2) {
      made.ranks = critical_difference_diagram(ranking, FigureStyle::of_file(500.0, 0.0), Surroundings::none);
    }
    const FigureStyle style = FigureStyle::of_file(500.0, 340.0);
    made.anytime = with_legend(anytime_figure(over_all_tables, strokes, style), strokes, style);
  }
  return figures;
}

}  // namespace bapi
