#include "bapi/base/clock.h"

#include <gtest/gtest.h>

namespace bapi {
namespace {

TEST(Clock, SleepIsOnTheCalendarAndNotInTheTimeThatPasses) {
  ManualClock clock(100.0);
  clock.sleep(3600.0);
  clock.advance(1.0);
  EXPECT_EQ(clock.now(), 101.0);
  EXPECT_EQ(clock.calendar(), 3701.0);
}

TEST(Clock, AMachineThatIsAwakeHasNotSlept) {
  const SystemClock clock;
  const double now = clock.now();
  EXPECT_EQ(clock.asleep(), 0.0);
  EXPECT_GE(clock.calendar(), now);
}

}  // namespace
}  // namespace bapi
