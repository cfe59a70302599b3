#include "bapi/policy/rungs.h"

#include <gtest/gtest.h>

namespace bapi {
namespace {

Trial trial_with(const std::vector<double>& values, TrialState state) {
  Trial trial;
  trial.state = state;
  for (std::size_t i = 0; i < values.size(); ++i) trial.curve.append({static_cast<Epoch>(i) + 1, values[i], 1.0});
  return trial;
}

TEST(Rungs, AProgramThatEndedStandsAtItsLastValueOnEveryRung) {
  const Trial ended = trial_with({0.1, 0.3, 0.2}, TrialState::completed);
  EXPECT_TRUE(has_reached(ended, 9));
  EXPECT_EQ(value_at(ended, 9), 0.2);
  EXPECT_EQ(value_at(ended, 2), 0.3);
  EXPECT_FALSE(has_reached(trial_with({0.1, 0.3, 0.2}, TrialState::paused), 9));
}

TEST(Rungs, AShareOfTheEpochsIsRoundedUpToAtLeastOne) {
  EXPECT_EQ(share_of(0.1, 100), 10);
  EXPECT_EQ(share_of(0.1, 50), 5);
  EXPECT_EQ(share_of(0.1, 27), 3);
  EXPECT_EQ(share_of(0.0, 27), 1);
  EXPECT_EQ(share_of(1.0, 27), 27);
}

TEST(Rungs, GrowByTheirRatioFromTheFirstOnAndEndAtTheLastEpoch) {
  EXPECT_EQ(next_rung(0, 4, 2.0, 50), 4);
  EXPECT_EQ(next_rung(3, 4, 2.0, 50), 4);
  EXPECT_EQ(next_rung(4, 4, 2.0, 50), 8);
  EXPECT_EQ(next_rung(5, 4, 1.0, 50), 6) << "at least one more";
  EXPECT_EQ(next_rung(32, 4, 2.0, 50), 50);
}

}  // namespace
}  // namespace bapi
