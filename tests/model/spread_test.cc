#include "bapi/model/spread.h"

#include <gtest/gtest.h>

namespace bapi {
namespace {

TEST(SpreadFactor, NeverGrowsWithWhatIsKnown) {
  for (Epoch now = 1; now < 100; ++now) {
    EXPECT_GE(spread_factor(now, 100), spread_factor(now + 1, 100));
    EXPECT_LE(spread_factor(now, now + 1), spread_factor(now, 100));
  }
}

TEST(SpreadFactor, IsNoLessThanTheModelsOwnDeviation) {
  for (const Epoch now : {0, 1, 10, 50, 99}) EXPECT_GE(spread_factor(now, 100), 1.0);
}

TEST(SpreadFactor, DependsOnTheShareOfTheEpochsAlone) { EXPECT_EQ(spread_factor(3, 12), spread_factor(25, 100)); }

// A band of 95 % of a normal is 1.53 times as wide as one of 80 %.
TEST(ValueErrors, HaveHeavierTailsThanANormal) {
  for (const bool warped : {true, false}) {
    for (const Epoch now : {0, 7}) {
      const ErrorLaw law = value_errors(now, warped);
      EXPECT_GT(law.error(1.96) - law.error(-1.96), 1.6 * (law.error(1.28) - law.error(-1.28)));
    }
  }
}

}  // namespace
}  // namespace bapi
