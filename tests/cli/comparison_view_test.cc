#include "bapi/cli/comparison_view.h"

#include <gtest/gtest.h>

#include "bapi/report/text.h"

namespace bapi {
namespace {

const ComparisonProgress kHalf{.done = 60,
                               .total = 120,
                               .kept = 10,
                               .seconds_left = 192.0,
                               .last = {.table = "t", .policy = "p", .budget = "5full", .workers = 1, .seed = 3}};

TEST(ProgressLine, SaysHowManyAndHowLong) {
  EXPECT_EQ(progress_text(kHalf), "60 of 120 runs, 3m12s left");
  EXPECT_EQ(progress_text({.done = 120, .total = 120}), "120 of 120 runs, done");
  EXPECT_EQ(progress_text({.done = 0, .total = 120}), "0 of 120 runs");
  EXPECT_EQ(progress_text({.done = 119, .total = 120, .seconds_left = 7e-5}), "119 of 120 runs, <1 s left");
}

TEST(ProgressLine, FitsEveryWidthAndDropsTheLeastImportantFirst) {
  for (std::size_t columns = 1; columns < 150; ++columns) {
    EXPECT_LE(display_width(progress_line(kHalf, columns)), columns) << columns;
  }
  EXPECT_NE(progress_line(kHalf, 120).find("seed 3"), std::string::npos);
  EXPECT_EQ(progress_line(kHalf, 60).find("seed 3"), std::string::npos);
  EXPECT_NE(progress_line(kHalf, 60).find("█"), std::string::npos);
  EXPECT_EQ(progress_line(kHalf, 30), progress_text(kHalf));
}

}  // namespace
}  // namespace bapi
