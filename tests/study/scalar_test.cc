#include "bapi/study/scalar.h"

#include <gtest/gtest.h>

#include <cmath>

namespace bapi {
namespace {

TEST(ParseScalar, ReadsIntegersNumbersAndBooleans) {
  EXPECT_EQ(parse_scalar("3"), Value(std::int64_t{3}));
  EXPECT_EQ(parse_scalar("-17"), Value(std::int64_t{-17}));
  EXPECT_EQ(parse_scalar("+5"), Value(std::int64_t{5}));
  EXPECT_EQ(parse_scalar("1e-6"), Value(1e-6));
  EXPECT_EQ(parse_scalar("1E3"), Value(1000.0));
  EXPECT_EQ(parse_scalar(".5"), Value(0.5));
  EXPECT_EQ(parse_scalar("3.0"), Value(3.0));
  EXPECT_EQ(parse_scalar("true"), Value(true));
  EXPECT_EQ(parse_scalar("False"), Value(false));
  EXPECT_EQ(parse_scalar(".inf"), Value(std::numeric_limits<double>::infinity()));
  EXPECT_TRUE(std::isnan(std::get<double>(parse_scalar(".nan"))));
}

TEST(ParseScalar, EverythingElseIsAString) {
  for (const std::string text :
       {"sgd", "yes", "no", "1.2.3", "30m", "1e", "inf", "nan", "-", "1 2", "--3", "infinity"}) {
    EXPECT_EQ(parse_scalar(text), Value(text)) << text;
  }
}

TEST(ParseScalar, NothingIsMonostate) {
  for (const std::string_view text : {"", "~", "null"}) EXPECT_EQ(parse_scalar(text), Value(std::monostate{})) << text;
}

TEST(ParseScalar, IntegersBeyondSixtyFourBitsAreNumbers) {
  EXPECT_EQ(parse_scalar("9223372036854775807"), Value(std::int64_t{9223372036854775807}));
  EXPECT_EQ(parse_scalar("9223372036854775808"), Value(9223372036854775808.0));
}

}  // namespace
}  // namespace bapi
