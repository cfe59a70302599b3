#include "bapi/policy/rungs.h"

#include <gtest/gtest.h>

#include <functional>

#include "tests/support/tables.h"

namespace bapi {
namespace {

using Course = std::function<double(Epoch)>;

struct Shown {
  Course course;
  Epoch epochs;
};

History study_of_trials(const std::vector<Shown>& trials) {
  const CurveTable table = test::small_table(20, 40);
  History history(study_of(table, 1e6, {}, 1, 1));
  for (std::size_t i = 0; i < trials.size(); ++i) {
    const TrialId id{static_cast<std::int64_t>(i)};
    history.apply(TrialStarted{.trial = id, .config = table.configs[i], .until = trials[i].epochs});
    for (Epoch t = 1; t <= trials[i].epochs; ++t) history.apply(Measured{id, {t, trials[i].course(t), 1.0}});
    history.apply(SegmentDone{id});
  }
  return history;
}

// A study whose trials have shown these courses for so many epochs.
History study_with(const std::vector<Course>& courses, Epoch epochs) {
  std::vector<Shown> trials;
  for (const Course& course : courses) trials.push_back({course, epochs});
  return study_of_trials(trials);
}

// About 0.1, up and down by 0.01 as it comes.
Course at_chance(int phase) {
  return [phase](Epoch t) { return 0.1 + 0.01 * std::sin(2.4 * t + 1.7 * phase); };
}

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

TEST(Rungs, ValuesThatOnlyFluctuateTellNothing) {
  EXPECT_FALSE(tells_apart(study_with({at_chance(0), at_chance(1), at_chance(2)}, 10), 10));
  const Course constant = [](Epoch) { return -21.0; };
  EXPECT_FALSE(tells_apart(study_with({constant, constant, constant}, 10), 10)) << "ties";
  const Course falls = [](Epoch t) { return at_chance(0)(t) - 0.02 * t; };
  EXPECT_FALSE(tells_apart(study_with({at_chance(0), at_chance(1), falls}, 10), 10)) << "what gets worse is not ahead";
}

TEST(Rungs, ALeadOrARiseTells) {
  const Course ahead = [](Epoch t) { return at_chance(0)(t) + 0.1; };
  EXPECT_TRUE(tells_apart(study_with({at_chance(1), at_chance(2), ahead}, 10), 10));
  const Course rises = [](Epoch t) { return at_chance(0)(t) + 0.004 * t; };
  EXPECT_TRUE(tells_apart(study_with({rises, rises, rises}, 10), 10)) << "although they are equal";
  const Course late = [](Epoch t) { return at_chance(0)(t) + (t > 12 ? 0.3 : 0.0); };
  const History history = study_with({at_chance(1), at_chance(2), late}, 20);
  EXPECT_FALSE(tells_apart(history, 10));
  EXPECT_TRUE(tells_apart(history, 20));
}

TEST(Rungs, WhereFluctuationCannotBeToldValuesCount) {
  EXPECT_TRUE(tells_apart(study_with({at_chance(0), at_chance(1)}, 3), 3));
  EXPECT_TRUE(tells_apart(study_with({at_chance(0)}, 10), 10));
  EXPECT_TRUE(tells_apart(study_with({at_chance(0), at_chance(1)}, 10), 20)) << "nobody has got there";
}

// Rises by `lead` at once, and by `later` after epoch 15.
Course in_two_steps(double lead, double later) {
  return [=](Epoch t) { return 0.1 + lead * std::min(1.0, 0.2 * t) + (t > 15 ? later : 0.0); };
}

TEST(Rungs, ALeadThatIsDwarfedByWhatComesLaterTellsNothing) {
  const std::vector<Shown> begun = {{in_two_steps(0.0, 0.0), 10}, {in_two_steps(0.01, 0.0), 10}};
  const auto with = [&](const Shown& a, const Shown& b) {
    std::vector<Shown> trials = begun;
    trials.push_back(a);
    trials.push_back(b);
    return study_of_trials(trials);
  };
  const Shown leader{in_two_steps(0.1, 0.0), 40};
  EXPECT_TRUE(tells_apart(with(leader, {in_two_steps(0.0, 0.0), 40}), 10));
  EXPECT_TRUE(tells_apart(with(leader, {in_two_steps(0.05, 0.2), 40}), 10)) << "by less than three times the lead";
  const History late = with(leader, {in_two_steps(0.05, 0.5), 40});
  EXPECT_FALSE(tells_apart(late, 10));
  EXPECT_TRUE(tells_apart(late, 16)) << "they have come apart";
}

TEST(Rungs, WhatAllTrialsGainLaterDoesNotTakeBackALead) {
  const std::vector<Shown> together = {{in_two_steps(0.1, 0.5), 40}, {in_two_steps(0.0, 0.5), 40}};
  EXPECT_TRUE(tells_apart(study_of_trials(together), 10));
}

TEST(Rungs, OneTrialOrAFewFurtherEpochsDoNotTakeBackALead) {
  const Shown leader{in_two_steps(0.1, 0.0), 10};
  EXPECT_TRUE(tells_apart(study_of_trials({leader, leader, {in_two_steps(0.0, 0.9), 40}}), 10)) << "one trial";
  const std::vector<Shown> near = {{in_two_steps(0.1, 0.0), 19}, {in_two_steps(0.0, 0.9), 19}};
  EXPECT_TRUE(tells_apart(study_of_trials(near), 10)) << "less than twice as far";
}

}  // namespace
}  // namespace bapi
