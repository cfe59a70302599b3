#include "bapi/report/text.h"

#include <gtest/gtest.h>

namespace bapi {
namespace {

TEST(ShortNumber, KeepsFourDigitsAndWholeNumbers) {
  EXPECT_EQ(short_number(0.0), "0");
  EXPECT_EQ(short_number(12345.0), "12345");
  EXPECT_EQ(short_number(12345.67), "12346");
  EXPECT_EQ(short_number(0.913449), "0.9134");
  EXPECT_EQ(short_number(0.0000123456), "1.235e-05");
  EXPECT_EQ(short_number(-3.5), "-3.5");
}

TEST(ShortDuration, UsesTwoUnitsAtMost) {
  EXPECT_EQ(short_duration(0.0), "0 s");
  EXPECT_EQ(short_duration(0.0123), "12.3 ms");
  EXPECT_EQ(short_duration(0.9999), "1.0 s");
  EXPECT_EQ(short_duration(59.96), "60.0 s");
  EXPECT_EQ(short_duration(119.6), "2m00s");
  EXPECT_EQ(short_duration(725.0), "12m05s");
  EXPECT_EQ(short_duration(3599.9), "1h00m");
  EXPECT_EQ(short_duration(12000.0), "3h20m");
  EXPECT_EQ(short_duration(187200.0), "2d04h");
}

TEST(ShortCost, IsADurationOnlyIfTheUnitIsTheSecond) {
  EXPECT_EQ(short_cost(725.0, {.limit = 1.0}), "12m05s");
  EXPECT_EQ(short_cost(500.0, {.limit = 1.0, .unit = "epochs", .meter = Meter::epochs}), "500 epochs");
  EXPECT_EQ(short_cost(1.0, {.limit = 1.0, .unit = "epochs", .meter = Meter::epochs}), "1 epoch");
  EXPECT_EQ(short_cost(3.2, {.limit = 1.0, .unit = "usd", .meter = Meter::seconds, .per_hour = 2.5}), "3.2 usd");
}

}  // namespace
}  // namespace bapi
