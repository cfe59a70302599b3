#include "bapi/control/allowance.h"

#include <gtest/gtest.h>

#include "bapi/base/rng.h"

namespace bapi {
namespace {

constexpr double kStart = 100.0;

StudySpec spec_in(Meter meter, Cost limit, Epoch max_epoch = 10) {
  StudySpec spec;
  spec.budget = {.limit = limit, .unit = "u", .meter = meter};
  spec.epochs = {.min = 1, .max = max_epoch};
  spec.workers = 4;
  return spec;
}

// A study whose trials have these epoch costs; all of them run.
History study_of(const StudySpec& spec, const std::vector<std::vector<Cost>>& costs) {
  History history(spec);
  for (std::size_t i = 0; i < costs.size(); ++i) {
    const TrialId trial{static_cast<std::int64_t>(i)};
    history.apply(TrialStarted{.trial = trial, .config = {{0.5}}, .until = spec.epochs.max});
    Epoch epoch = 0;
    for (const Cost cost : costs[i]) history.apply(Measured{trial, {++epoch, 0.5, cost}});
  }
  return history;
}

Event measured(int trial, Epoch epoch, Cost cost) { return Measured{TrialId{trial}, {epoch, 0.5, cost}}; }

// ---- Epochs.

TEST(Allowance, ACountedEpochCostsOneAndATimedOneIsNotKnownBeforehand) {
  EXPECT_EQ(epoch_reserve(study_of(spec_in(Meter::epochs, 10.0), {{1.0}}), nullptr), 1.0);
  EXPECT_EQ(epoch_reserve(study_of(spec_in(Meter::accrued, 10.0), {{3.0}}), nullptr), std::nullopt);
  EXPECT_EQ(epoch_reserve(study_of(spec_in(Meter::reported, 10.0), {}), nullptr), std::nullopt);
}

TEST(Allowance, AReportedEpochIsTakenToCostTheLargestSoFar) {
  const History history = study_of(spec_in(Meter::reported, 100.0), {{1.0, 5.0, 2.0}, {0.5, 0.25}, {}});
  EXPECT_EQ(epoch_reserve(history, &history.trial(TrialId{0})), 5.0);
  EXPECT_EQ(epoch_reserve(history, &history.trial(TrialId{1})), 0.5);
  EXPECT_EQ(epoch_reserve(history, &history.trial(TrialId{2})), 5.0) << "of the study, without epochs of its own";
  EXPECT_EQ(epoch_reserve(history, nullptr), 5.0);
  EXPECT_EQ(reservation(history, nullptr, 4, 1.0), 20.0);
}

TEST(Allowance, WhatIsPayableIsNeverMoreThanWantedNorThanWhatIsLeft) {
  for (const Cost left : {0.0, 0.5, 1.0, 3.999, 4.0, 1e6}) {
    const History history = study_of(spec_in(Meter::epochs, left + 2.0), {{1.0, 1.0}});
    const Epoch until = payable_until(history, nullptr, 10);
    EXPECT_LE(until, 10) << left;
    EXPECT_LE(until, left) << left;
    EXPECT_GT(until + 1, std::min(9.0, left)) << left;
  }
}

TEST(Allowance, RoundingOfSumsTakesNoEpochAwayAtAnyScale) {
  for (const double scale : {1e-12, 1.0, 1e12}) {
    const StudySpec spec = spec_in(Meter::reported, 1.0 * scale);
    const History history = study_of(spec, {std::vector<Cost>(9, 0.1 * scale)});
    EXPECT_EQ(payable_until(history, &history.trial(TrialId{0}), 10), 10) << scale;
    EXPECT_TRUE(history.budget().pays(0.1 * scale)) << scale;
    EXPECT_FALSE(history.budget().pays(0.1001 * scale)) << scale << ": a slack is a share of the total, not an amount";
  }
}

TEST(Allowance, ARunningTrialMayTrainToItsUntilWhateverIsLeft) {
  const History history = study_of(spec_in(Meter::reported, 10.0), {{9.0}});
  EXPECT_EQ(last_payable_epoch(history, history.trial(TrialId{0})), 10);
}

// ---- Facts.

TEST(Allowance, CountedEpochsNeverPassTheTotal) {
  const History history = study_of(spec_in(Meter::epochs, 3.0), {{1.0}, {}});
  const std::vector<Event> facts = {measured(0, 2, 1.0),
                                    measured(1, 1, 1.0),
                                    measured(1, 2, 1.0),
                                    SegmentDone{TrialId{1}},
                                    TrialFailed{TrialId{0}, "late"}};
  EXPECT_EQ(payable_facts(history, facts),
            (std::vector<Event>{measured(0, 2, 1.0), measured(1, 1, 1.0), TrialFailed{TrialId{0}, "late"}}));
}

TEST(Allowance, MeasuredTimeIsKeptWhateverItComesTo) {
  const History history = study_of(spec_in(Meter::accrued, 1.0), {{}});
  const std::vector<Event> facts = {measured(0, 1, 5.0), measured(0, 2, 5.0)};
  EXPECT_EQ(payable_facts(history, facts), facts);
}

TEST(Allowance, ReportedCostsExceedTheTotalByAtMostOneEpochPerWorker) {
  constexpr int kWorkers = 4;
  constexpr Cost kLargest = 7.0;
  Rng rng(3);
  for (int round = 0; round < 200; ++round) {
    History history = study_of(spec_in(Meter::reported, 50.0, 1000), {{}, {}, {}, {}});
    std::vector<Epoch> reported(kWorkers, 0);
    for (int batch = 0; batch < 40; ++batch) {  // programs report on, whatever is left
      std::vector<Event> facts;
      for (int i = rng.below(6) + 1; i > 0; --i) {
        const int trial = rng.below(kWorkers);
        facts.push_back(measured(trial, ++reported[static_cast<std::size_t>(trial)], kLargest * rng.uniform()));
      }
      const std::vector<Event> kept = payable_facts(history, facts);
      for (const Event& fact : kept) history.apply(fact);
    }
    EXPECT_GE(history.budget().spent(), 50.0);
    EXPECT_LE(history.budget().spent(), 50.0 + kWorkers * kLargest);
  }
}

// ---- The end.

TEST(Allowance, AnEndIsDueWhenTheTimeToItIsOver) {
  StudySpec spec = spec_in(Meter::accrued, 60.0);
  spec.grace = 0.5;
  spec.deadline = 100.0;
  const History history = study_of(spec, {{10.0}});
  for (const Cost accrued : {0.0, 10.0, 46.0, 47.9, 48.1, 60.0}) {
    for (const double now : {kStart, kStart + 99.0, kStart + 99.6, kStart + 200.0}) {
      const Running running{.accrued = accrued, .rate = 4.0};
      const StudyTime time{.started_at = kStart, .now = now};
      EXPECT_EQ(end_due(history, running, time).has_value(), seconds_to_end(history, running, time) == 0.0)
          << accrued << " at " << now;
    }
  }
}

TEST(Allowance, TheGracePeriodsOfAllProcessesArePaidFor) {
  StudySpec spec = spec_in(Meter::accrued, 1000.0);
  spec.grace = 2.0;
  const History history = study_of(spec, {{100.0}});
  const Running running{.accrued = 50.0, .rate = 4.0};
  const double seconds = seconds_to_end(history, running, {.started_at = kStart, .now = kStart});
  EXPECT_DOUBLE_EQ(100.0 + 50.0 + 4.0 * (seconds + 2.0), 1000.0);
  EXPECT_DOUBLE_EQ(*seconds_left(history, running, {}), (1000.0 - 150.0) / 4.0) << "displays count to the total";
}

TEST(Allowance, NothingEndsWhatHasEnded) {
  History history = study_of(spec_in(Meter::epochs, 1.0), {{1.0}});
  EXPECT_EQ(end_due(history, {}, {}), kBudgetSpent);
  history.apply(StudyFinished{"enough"});
  EXPECT_EQ(end_due(history, {}, {}), std::nullopt);
  EXPECT_EQ(end_due_between_epochs(history, {}), std::nullopt);
}

TEST(Allowance, InReportedUnitsTheEpochsInProgressMustFitAtTheLargestCostOfEachTrial) {
  const StudySpec spec = spec_in(Meter::reported, 20.0);
  EXPECT_EQ(end_due(study_of(spec, {{1.0, 4.0}, {2.0, 3.0}}), {}, {}), std::nullopt) << "4 + 3 of the 10 left";
  EXPECT_EQ(end_due(study_of(spec, {{1.0, 4.0}, {2.0, 7.0}}), {}, {}), kNextEpochDoesNotFit) << "4 + 7 of the 6 left";
}

TEST(Allowance, WithoutARateOrADeadlineNobodyKnowsWhatTimeIsLeft) {
  StudySpec spec = spec_in(Meter::epochs, 20.0);
  EXPECT_EQ(seconds_left(study_of(spec, {}), {}, {.started_at = kStart, .now = kStart}), std::nullopt);
  spec.deadline = 30.0;
  EXPECT_EQ(seconds_left(study_of(spec, {}), {}, {.started_at = kStart, .now = kStart + 10.0}), 20.0);
  EXPECT_EQ(seconds_left(study_of(spec, {}), {.rate = 2.0}, {.started_at = kStart, .now = kStart + 10.0}), 10.0);
}

TEST(Allowance, FailuresOfEarlierRunsDoNotCount) {
  StudySpec spec = spec_in(Meter::epochs, 20.0);
  spec.max_failures = 2;
  History history = study_of(spec, {{}, {}, {}});
  for (const int trial : {0, 1, 2}) history.apply(TrialFailed{TrialId{trial}, "no such file"});
  EXPECT_FALSE(too_many_failures(history, 2));
  EXPECT_TRUE(too_many_failures(history, 1));
  EXPECT_NE(failure_advice(history).find("no such file"), std::string::npos);
}

}  // namespace
}  // namespace bapi
