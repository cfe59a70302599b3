#include "bapi/base/number.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "bapi/base/error.h"

namespace bapi {
namespace {

TEST(NumberIn, IsAllOfTheTextOrNothing) {
  EXPECT_EQ(number_in<int>("-12"), -12);
  EXPECT_EQ(number_in<double>("2.5e-3"), 2.5e-3);
  for (const char* text : {"", " 1", "1 ", "1x", "+1", "1.0", "2147483648"}) EXPECT_FALSE(number_in<int>(text)) << text;
  EXPECT_FALSE(number_in<std::uint64_t>("-1"));
}

TEST(ParseNumber, TakesTheWholeTextOrNothing) {
  EXPECT_EQ(parse_number("2.5e-3", "lr"), 2.5e-3);
  EXPECT_TRUE(std::isnan(parse_number("nan", "value")));
  for (const char* text : {"", " 1", "1 ", "1x", "0,5"}) EXPECT_THROW(parse_number(text, "lr"), InvalidInput) << text;
}

TEST(ParseNumber, SaysWhereAndWhatItFound) {
  try {
    parse_number("many", "curves.csv:7");
    FAIL();
  } catch (const InvalidInput& error) {
    EXPECT_STREQ(error.what(), "curves.csv:7: found \"many\", expected a number");
  }
}

TEST(ParseWholeNumber, TakesDigitsWithinItsBoundsAndNothingElse) {
  constexpr std::uint64_t kLargest = std::numeric_limits<std::uint64_t>::max();
  EXPECT_EQ(parse_whole_number("18446744073709551615", 0, kLargest, "seed"), kLargest);
  EXPECT_EQ(parse_whole_number("2", 2, 4, "rows"), 2U);
  for (const char* text : {"", "-1", "+3", "2.5", "1e3", "18446744073709551616", "3x"}) {
    EXPECT_THROW(parse_whole_number(text, 0, kLargest, "seed"), InvalidInput) << text;
  }
  for (const char* text : {"1", "5"}) EXPECT_THROW(parse_whole_number(text, 2, 4, "rows"), InvalidInput) << text;
}

}  // namespace
}  // namespace bapi
