#include "bapi/base/number.h"

#include <gtest/gtest.h>

#include <cmath>

#include "bapi/base/error.h"

namespace bapi {
namespace {

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

}  // namespace
}  // namespace bapi
