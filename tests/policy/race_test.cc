#include "bapi/policy/race.h"

#include <gtest/gtest.h>

#include "tests/support/tables.h"

namespace bapi {
namespace {

TEST(RaceRungs, AreThePowersBelowTheLastEpochAndTheLastEpoch) {
  EXPECT_EQ(race_rungs(1, 27, 3), (std::vector<Epoch>{1, 3, 9, 27}));
  EXPECT_EQ(race_rungs(1, 100, 3), (std::vector<Epoch>{1, 3, 9, 27, 81, 100}));
  EXPECT_EQ(race_rungs(2, 50, 4), (std::vector<Epoch>{2, 8, 32, 50}));
  EXPECT_EQ(race_rungs(1, 1, 3), (std::vector<Epoch>{1}));
}

// A trial that was trained elsewhere stands on every rung that it has passed, and is not trained there again.
TEST(Race, TrialsOfOtherRulesStandOnTheRungsTheyHavePassed) {
  const CurveTable table = test::small_table(40, 9);
  History history(study_of(table, 1e6, {.name = "asha"}, 1, 1));
  const std::vector<Epoch> rungs = race_rungs(1, 9, 3);
  const auto train = [&](std::size_t row, Epoch until, double value) {
    const TrialId id{std::ssize(history.trials())};
    history.apply(TrialStarted{.trial = id, .config = table.configs[row], .until = until});
    for (Epoch t = 1; t <= until; ++t) history.apply(Measured{id, {t, value, 1.0}});
    history.apply(SegmentDone{id});
  };
  train(0, 5, 0.9);
  train(1, 1, 0.5);
  ASSERT_TRUE(std::holds_alternative<Start>(race(history, rungs, 3)));  // one of two is no third
  train(2, 1, 0.6);
  train(3, 1, 0.4);
  train(4, 1, 0.3);
  train(5, 1, 0.2);
  const Decision decision = race(history, rungs, 3);
  ASSERT_TRUE(std::holds_alternative<Resume>(decision));
  EXPECT_EQ(std::get<Resume>(decision).trial, TrialId{2});  // the best but for one that is beyond
  EXPECT_EQ(std::get<Resume>(decision).until, 3);
  EXPECT_EQ(std::get<Resume>(decision).why.standing->rank, 1);
}

}  // namespace
}  // namespace bapi
