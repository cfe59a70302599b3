#include "bapi/store/database_clock.h"

#include <gtest/gtest.h>

namespace bapi {
namespace {

TEST(DatabaseClock, ShowsTheServersTimeBetweenSamples) {
  ManualClock local(100.0);
  DatabaseClock clock(local);
  local.advance(1.0);
  clock.sample(5000.5, 100.0, 101.0);  // in the middle of the round trip
  EXPECT_DOUBLE_EQ(clock.now(), 5001.0);
  local.advance(2.5);
  EXPECT_DOUBLE_EQ(clock.now(), 5003.5);
}

TEST(DatabaseClock, NeverRunsBackwards) {
  ManualClock local(100.0);
  DatabaseClock clock(local);
  clock.sample(5000.0, 100.0, 100.0);
  EXPECT_DOUBLE_EQ(clock.now(), 5000.0);
  clock.sample(4990.0, 100.0, 100.0);
  EXPECT_DOUBLE_EQ(clock.now(), 5000.0);
  local.advance(11.0);
  EXPECT_DOUBLE_EQ(clock.now(), 5001.0);
}

TEST(DatabaseClock, CountsWhatThisMachineSleeps) {
  ManualClock local(100.0);
  DatabaseClock clock(local);
  clock.sample(5000.0, 100.0, 100.0);
  local.sleep(30.0);
  EXPECT_DOUBLE_EQ(clock.now(), 5030.0);
  EXPECT_DOUBLE_EQ(clock.calendar(), 5030.0);
}

TEST(DatabaseClock, WantsASampleEveryMinute) {
  ManualClock local(100.0);
  DatabaseClock clock(local);
  EXPECT_TRUE(clock.wants_sample());
  clock.sample(5000.0, 100.0, 100.0);
  EXPECT_FALSE(clock.wants_sample());
  local.advance(60.0);
  EXPECT_TRUE(clock.wants_sample());
}

}  // namespace
}  // namespace bapi
