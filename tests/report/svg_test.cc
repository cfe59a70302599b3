#include "bapi/report/svg.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace bapi {
namespace {

std::vector<std::string> labels(const std::vector<Tick>& ticks) {
  std::vector<std::string> out;
  for (const Tick& tick : ticks) out.push_back(tick.label);
  return out;
}

TEST(Ticks, AreRoundNumbersWithinTheAxis) {
  EXPECT_EQ(labels(ticks_of({.low = 0.0, .high = 1.0}, 5)),
            (std::vector<std::string>{"0.0", "0.2", "0.4", "0.6", "0.8", "1.0"}));
  EXPECT_EQ(labels(ticks_of({.low = -3.0, .high = 12.0}, 4)), (std::vector<std::string>{"0", "5", "10"}));
}

TEST(Ticks, OfCountsAreWhole) {
  EXPECT_EQ(labels(ticks_of({.low = 0.5, .high = 3.0, .ticks = Ticks::whole}, 8)),
            (std::vector<std::string>{"1", "2", "3"}));
}

TEST(Ticks, OfALogAxisArePowersOfTenOrFinerIfThereAreFew) {
  EXPECT_EQ(labels(ticks_of({.low = 1e-6, .high = 1.0, .scale = AxisScale::log}, 8)),
            (std::vector<std::string>{"1e-06", "1e-05", "1e-04", "0.001", "0.01", "0.1", "1"}));
  EXPECT_EQ(labels(ticks_of({.low = 0.04, .high = 3.0, .scale = AxisScale::log}, 8)),
            (std::vector<std::string>{"0.05", "0.1", "0.2", "0.5", "1", "2"}));
}

TEST(Ticks, ExistOnEveryAxis) {
  const std::vector<Axis> axes = {{.low = 1e15, .high = 1e15 + 1.0},
                                  {.low = 0.123456789, .high = 0.123456790},
                                  {.low = -1e300, .high = 1e300},
                                  {.low = 2.1, .high = 2.2, .ticks = Ticks::whole},
                                  {.low = 3.1, .high = 3.2, .scale = AxisScale::log},
                                  {.low = 1e-300, .high = 1e300, .scale = AxisScale::log}};
  for (const Axis& axis : axes) {
    const std::size_t count = ticks_of(axis, 6).size();
    EXPECT_GE(count, 1u) << axis.low;
    EXPECT_LE(count, 24u) << axis.low;
  }
}

TEST(AxisOver, HasAirAndIsWidenedAroundAConstant) {
  const std::vector<double> two = {1.0, 2.0};
  EXPECT_LT(axis_over(two, "").low, 1.0);
  EXPECT_GT(axis_over(two, "").high, 2.0);
  for (const double constant : {0.0, 5.0, -5.0, 1e-12, 1e300}) {
    const std::vector<double> values = {constant, constant};
    const Axis axis = axis_over(values, "");
    EXPECT_LT(axis.low, axis.high) << constant;
  }
  EXPECT_LT(axis_over({}, "").low, axis_over({}, "").high);
  const std::vector<double> nan = {std::numeric_limits<double>::quiet_NaN()};
  EXPECT_LT(axis_over(nan, "").low, axis_over(nan, "").high);
}

TEST(Figure, LeavesOutWhatCannotBeDrawn) {
  Figure figure("t", "s", {.high = 10.0}, {.low = 1.0, .high = 10.0, .scale = AxisScale::log});
  const std::vector<Point> points = {{1.0, 2.0}, {2.0, -1.0}, {3.0, std::nan("")}, {4.0, 1e300}, {5.0, 3.0}};
  figure.line(points, {});
  const std::string svg = figure.svg();
  EXPECT_EQ(svg.find("nan"), std::string::npos);
  EXPECT_EQ(svg.find("inf"), std::string::npos);
  EXPECT_EQ(svg.find("e+"), std::string::npos);
}

TEST(Figure, ALongTitleKeepsItsEnd) {
  const Figure figure(std::string(200, 'x') + ": learning curves", "", {}, {.label = std::string(200, 'y') + " (%)"});
  EXPECT_NE(figure.svg().find("x…x"), std::string::npos);
  EXPECT_NE(figure.svg().find("x: learning curves</text>"), std::string::npos);
  EXPECT_NE(figure.svg().find("y (%)</text>"), std::string::npos);
}

TEST(Figure, EscapesEveryText) {
  Figure figure(
      "a <b> & \"c\"", "\x01", {.label = "<x>"}, {.label = "y & z"}, {{.label = "<script>", .color = "#000"}});
  figure.text({0.5, 0.5}, Anchor::middle, Side::above, "1 < 2", "#000");
  const std::string svg = figure.svg();
  EXPECT_EQ(svg.find("<b>"), std::string::npos);
  EXPECT_EQ(svg.find("<script>"), std::string::npos);
  EXPECT_NE(svg.find("y &amp; z"), std::string::npos);
  EXPECT_NE(svg.find("1 &lt; 2"), std::string::npos);
  EXPECT_EQ(svg.find('\x01'), std::string::npos);
}

}  // namespace
}  // namespace bapi
