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
  EXPECT_EQ(short_cost(3.2, {.limit = 1.0, .unit = "usd", .meter = Meter::accrued, .per_hour = 2.5}), "3.2 usd");
}

TEST(SpentOf, NamesTheUnitOnceUnlessItIsADuration) {
  EXPECT_EQ(spent_of(23.6, 100.0, {.limit = 1.0}), "23.6 s of 1m40s");
  EXPECT_EQ(spent_of(120.0, 500.0, {.limit = 1.0, .unit = "epochs", .meter = Meter::epochs}), "120 of 500 epochs");
}

TEST(Plural, AddsAnSUnlessThereIsOne) {
  EXPECT_EQ(plural(0, "trial"), "0 trials");
  EXPECT_EQ(plural(1, "trial"), "1 trial");
  EXPECT_EQ(plural(2, "trial"), "2 trials");
}

TEST(FirstFitting, PrefersTheLongestThatFits) {
  const std::vector<std::string> forms = {"0.951 ± 0.012 expected", "0.951 ± 0.012", "0.951"};
  EXPECT_EQ(first_fitting(forms, 80), forms[0]);
  EXPECT_EQ(first_fitting(forms, 13), forms[1]) << "columns count, not bytes";
  EXPECT_EQ(first_fitting(forms, 12), forms[2]);
  EXPECT_EQ(first_fitting(forms, 3), "0.…");
  EXPECT_EQ(first_fitting({}, 3), "");
}

TEST(Wrapped, BreaksBetweenItemsAndLosesNothing) {
  using Lines = std::vector<std::string>;
  const Lines items = {"lr=0.1", "units=64", "name=abcdefgh"};
  EXPECT_EQ(wrapped(items, " ", 80), Lines{"lr=0.1 units=64 name=abcdefgh"});
  EXPECT_EQ(wrapped(items, " ", 15), (Lines{"lr=0.1 units=64", "name=abcdefgh"}));
  EXPECT_EQ(wrapped(items, ", ", 16), (Lines{"lr=0.1,", "units=64,", "name=abcdefgh"}));
  EXPECT_EQ(wrapped(items, " ", 8), (Lines{"lr=0.1", "units=64", "name=abc", "defgh"}));
  EXPECT_EQ(wrapped({}, " ", 8), Lines{});
  EXPECT_EQ(wrapped_words("a  bc d", 4), (Lines{"a bc", "d"}));
}

}  // namespace
}  // namespace bapi
