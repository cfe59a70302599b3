#include "bapi/base/split.h"

#include <gtest/gtest.h>

namespace bapi {
namespace {

TEST(Split, GivesOnePartMoreThanThereAreSeparators) {
  using Parts = std::vector<std::string>;
  EXPECT_EQ(split("a,b", ','), (Parts{"a", "b"}));
  EXPECT_EQ(split("a,,b,", ','), (Parts{"a", "", "b", ""}));
  EXPECT_EQ(split(",", ','), (Parts{"", ""}));
}

TEST(Split, GivesNothingForAnEmptyText) { EXPECT_TRUE(split("", ',').empty()); }

}  // namespace
}  // namespace bapi
