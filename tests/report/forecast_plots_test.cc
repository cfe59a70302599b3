#include "bapi/report/forecast_plots.h"

#include <gtest/gtest.h>

#include "bapi/study/progress.h"
#include "tests/report/sample_study.h"

namespace bapi {
namespace {

std::size_t count(const std::string& text, const std::string& part) {
  std::size_t found = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++found;
  return found;
}

History sample_history() { return replay(sample_spec(), sample_log().events()); }

TEST(PlotForecasts, ShowEveryMeasurementAndAtMostEightTrials) {
  const BandPoint at{.x = 9.0, .mean = 0.7, .low = 0.6, .high = 0.8};
  const std::vector<CurveBand> many(10, CurveBand{.trial = TrialId{0}, .course = {{.x = 2.0, .mean = 0.6}, at}});
  const std::string one = plot_forecasts(sample_history(), std::span(many).first(1));
  EXPECT_EQ(count(one, "<circle"), 2u);  // trial 0 has two epochs
  EXPECT_EQ(count(plot_forecasts(sample_history(), many), "<circle"), 8u * 2u);
}

TEST(PlotOutlook, NamesTheMetricAndTheUnitOfTheBudget) {
  const std::vector<BandPoint> points = {{.x = 1e6, .mean = 0.9, .low = 0.9, .high = 0.9},
                                         {.x = 2e6, .mean = 0.95, .low = 0.92, .high = 0.97}};
  const std::string svg = plot_outlook(sample_history(), points, 2e6);
  EXPECT_NE(svg.find("total budget (s)"), std::string::npos);
  EXPECT_NE(svg.find("accuracy"), std::string::npos);
  EXPECT_EQ(count(svg, "<circle"), 2u);
}

}  // namespace
}  // namespace bapi
