#include "bapi/planner/epsilon.h"

#include <gtest/gtest.h>

namespace bapi {
namespace {

TEST(Epsilon, IsTheSmallestPositiveGainToTheLastEpoch) {
  EXPECT_DOUBLE_EQ(*observed_epsilon({{{5, 0.5}, {20, 0.7}}, {{5, 0.1}, {10, 0.6}, {20, 0.65}}, {{19, 0.9}}}, 20, 0.0),
                   0.65 - 0.6);
}

TEST(Epsilon, NoiseThatMakesTheLastValueLowerDoesNotCount) {
  EXPECT_DOUBLE_EQ(*observed_epsilon({{{5, 0.2}, {19, 0.71}, {20, 0.7}}}, 20, 0.0), 0.5);
}

TEST(Epsilon, FallsBackToOnePercentOfTheRange) {
  EXPECT_FALSE(observed_epsilon({{{5, 0.2}, {19, 0.7}}}, 20, 0.0).has_value());
  EXPECT_DOUBLE_EQ(automatic_epsilon({{{5, 0.2}, {19, 0.7}}}, 20), 0.01 * 0.5);
}

TEST(Epsilon, IsNeverBelowAThousandthOfTheRange) {
  EXPECT_DOUBLE_EQ(automatic_epsilon({{{1, 0.0}, {19, 1.0}, {20, 1.0 + 1e-9}}}, 20), 1e-3 * (1.0 + 1e-9));
}

TEST(Epsilon, ConstantOrMissingValuesGiveZero) {
  EXPECT_EQ(automatic_epsilon({}, 20), 0.0);
  EXPECT_EQ(automatic_epsilon({{{1, 0.4}, {20, 0.4}}}, 20), 0.0);
}

}  // namespace
}  // namespace bapi
