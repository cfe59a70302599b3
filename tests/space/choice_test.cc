#include "bapi/space/choice.h"

#include <gtest/gtest.h>

namespace bapi {
namespace {

TEST(ChoiceOf, OnlyIncreasingNumbersAreOrdered) {
  EXPECT_EQ(choice_of({std::int64_t{16}, std::int64_t{32}}).order, Choice::Order::ordered);
  EXPECT_EQ(choice_of({std::int64_t{1}, 2.5}).order, Choice::Order::ordered);
  EXPECT_EQ(choice_of({std::int64_t{32}, std::int64_t{16}}).order, Choice::Order::unordered);
  EXPECT_EQ(choice_of({1.0, 1.0}).order, Choice::Order::unordered);
  EXPECT_EQ(choice_of({std::string("a"), std::string("b")}).order, Choice::Order::unordered);
  EXPECT_EQ(choice_of({false, true}).order, Choice::Order::unordered);
  EXPECT_EQ(choice_of({std::int64_t{1}, std::string("auto")}).order, Choice::Order::unordered);
}

}  // namespace
}  // namespace bapi
