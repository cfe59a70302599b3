#include "bapi/report/sparkline.h"

#include <gtest/gtest.h>

#include <limits>
#include <vector>

#include "bapi/report/text.h"

namespace bapi {
namespace {

TEST(Sparkline, SpansAllHeights) {
  const std::vector<double> rising = {0, 1, 2, 3, 4, 5, 6, 7};
  EXPECT_EQ(sparkline(rising, 20), "▁▂▃▄▅▆▇█");
}

TEST(Sparkline, ThinsLongCoursesAndEndsWithTheNewestValue) {
  std::vector<double> values(1000, 0.0);
  values.back() = 1.0;
  const std::string line = sparkline(values, 10);
  EXPECT_EQ(display_width(line), 10u);
  EXPECT_TRUE(line.ends_with("█"));
}

TEST(Sparkline, ConstantIsHalfHighAndNothingIsNothing) {
  EXPECT_EQ(sparkline(std::vector<double>{3.0, 3.0}, 5), "▅▅");
  EXPECT_EQ(sparkline({}, 5), "");
  EXPECT_EQ(sparkline(std::vector<double>{1.0}, 0), "");
}

TEST(Sparkline, SurvivesExtremesAndGaps) {
  const double huge = std::numeric_limits<double>::max();
  EXPECT_EQ(sparkline(std::vector<double>{-huge, std::numeric_limits<double>::quiet_NaN(), huge}, 5), "▁ █");
}

}  // namespace
}  // namespace bapi
