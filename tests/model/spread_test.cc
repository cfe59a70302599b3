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

}  // namespace
}  // namespace bapi
