#include "bapi/study/history.h"

#include <gtest/gtest.h>

#include <limits>

#include "bapi/base/error.h"

namespace bapi {
namespace history_test {

StudySpec spec_of(Goal goal = Goal::maximize) {
  StudySpec spec;
  spec.name = "test";
  spec.metric = {.name = "score", .goal = goal};
  spec.budget = {.limit = 10.0, .unit = "epochs", .meter = Meter::epochs};
  spec.epochs = {.min = 1, .max = 5};
  return spec;
}

Event started(int trial, Epoch until, Cost expected = 0.0) {
  return TrialStarted{.trial = TrialId{trial}, .config = {{0.5}}, .until = until, .expected_cost = expected, .why = {}};
}

Event resumed(int trial, Epoch until) {
  return TrialResumed{.trial = TrialId{trial}, .until = until, .expected_cost = 0.0, .why = {}};
}

Event measured(int trial, Epoch epoch, double value, Cost cost = 1.0) {
  return Measured{.trial = TrialId{trial}, .measurement = {epoch, value, cost}};
}

TEST(History, SegmentDonePausesTheTrialAndTheLastEpochCompletesIt) {
  History history(spec_of());
  history.apply(started(0, 1));
  EXPECT_EQ(history.trial(TrialId{0}).state, TrialState::running);
  history.apply(measured(0, 1, 0.5));
  history.apply(SegmentDone{TrialId{0}});
  EXPECT_EQ(history.trial(TrialId{0}).state, TrialState::paused);
  history.apply(resumed(0, 5));
  for (Epoch t = 2; t <= 5; ++t) history.apply(measured(0, t, 0.5));
  history.apply(SegmentDone{TrialId{0}});
  EXPECT_EQ(history.trial(TrialId{0}).state, TrialState::completed);
  EXPECT_EQ(history.open_segments(), 0);
  EXPECT_EQ(history.decisions(), 2);
}

TEST(History, SpentIsEpochsAndOverheadOfAllTrialsFailedOnesToo) {
  History history(spec_of());
  history.apply(started(0, 2));
  history.apply(measured(0, 1, 0.5, 1.5));
  history.apply(Overhead{.trial = TrialId{0}, .kind = OverheadKind::failed, .epoch = 2, .cost = 0.25});
  history.apply(TrialFailed{.trial = TrialId{0}, .message = "exit code 1"});
  history.apply(started(1, 2));
  history.apply(measured(1, 1, 0.4, 1.0));
  EXPECT_EQ(history.budget().spent(), 2.75);
  EXPECT_EQ(history.trial(TrialId{0}).spent(), 1.75);
  EXPECT_EQ(history.trial(TrialId{0}).state, TrialState::failed);
}

TEST(History, CommittedIsWhatOpenSegmentsAreStillExpectedToCost) {
  History history(spec_of());
  history.apply(started(0, 3, 3.0));
  EXPECT_EQ(history.budget().remaining(), 7.0);
  history.apply(measured(0, 1, 0.5));
  EXPECT_EQ(history.budget().committed(), 2.0);
  EXPECT_EQ(history.budget().remaining(), 7.0);
  history.apply(measured(0, 2, 0.5, 9.0));  // dearer than expected: nothing left to reserve
  EXPECT_EQ(history.budget().committed(), 0.0);
  EXPECT_EQ(history.budget().remaining(), 0.0);
}

TEST(History, IncumbentIsTheFirstTrialWithTheBestValueInTheUsersDirection) {
  History history(spec_of(Goal::minimize));
  history.apply(started(0, 1));
  history.apply(measured(0, 1, 0.5));
  history.apply(SegmentDone{TrialId{0}});
  history.apply(started(1, 1));
  history.apply(measured(1, 1, 0.5));
  EXPECT_EQ(history.incumbent(), TrialId{0});
  history.apply(SegmentDone{TrialId{1}});
  history.apply(resumed(1, 2));
  history.apply(measured(1, 2, 0.3));
  EXPECT_EQ(history.incumbent(), TrialId{1});
  EXPECT_EQ(history.in_user_units(history.trial(TrialId{1}).curve.best()), 0.3);
}

TEST(History, EpochsReportedPastTheSegmentAreKept) {
  History history(spec_of());
  history.apply(started(0, 1));
  history.apply(measured(0, 1, 0.5));
  history.apply(SegmentDone{TrialId{0}});
  for (Epoch t = 2; t <= 5; ++t) history.apply(measured(0, t, 0.6));
  EXPECT_EQ(history.trial(TrialId{0}).curve.last_epoch(), 5);
  EXPECT_EQ(history.trial(TrialId{0}).state, TrialState::completed);
  EXPECT_EQ(history.budget().spent(), 5.0);
}

TEST(History, AnEpochThatWasNotReportedIsAGapInTheCurve) {
  History history(spec_of());
  history.apply(started(0, 2));
  history.apply(measured(0, 1, 0.1));
  history.apply(Overhead{.trial = TrialId{0}, .kind = OverheadKind::unreported, .epoch = 2, .cost = 1.0});
  EXPECT_EQ(history.trial(TrialId{0}).paid_epoch(), 2);
  history.apply(measured(0, 3, 0.3));
  history.apply(SegmentDone{.trial = TrialId{0}});
  const Curve& curve = history.trial(TrialId{0}).curve;
  EXPECT_EQ(curve.last_epoch(), 3);
  EXPECT_EQ(curve.gaps(), std::vector<Epoch>{2});
  EXPECT_EQ(curve.find(2), nullptr);
  EXPECT_EQ(curve.find(3)->value, 0.3);
  EXPECT_EQ(curve.value_by(2), 0.1);
  EXPECT_EQ(curve.up_to(2).size(), 1u);
  EXPECT_EQ(history.budget().spent(), 3.0);
  EXPECT_TRUE(history.objection(Overhead{.trial = TrialId{0}, .kind = OverheadKind::unreported, .epoch = 3}));
}

TEST(History, MoreEpochsThanAreForgivenCannotBeMissing) {
  StudySpec spec = spec_of();
  spec.epochs.max = 20;
  History history(spec);
  history.apply(started(0, 2));
  EXPECT_FALSE(history.objection(measured(0, 1 + kMostUnreported, 0.1)));
  EXPECT_TRUE(history.objection(measured(0, 2 + kMostUnreported, 0.1)));
  history.apply(measured(0, 3, 0.1));
  EXPECT_EQ(history.trial(TrialId{0}).curve.value_by(1), 0.1) << "nothing was reported by then";
  EXPECT_TRUE(history.objection(measured(0, 2, 0.1)));
}

TEST(History, InterruptedSegmentStaysOpenAndIsContinuedNotResumed) {
  History history(spec_of());
  history.apply(started(0, 3));
  history.apply(Interrupted{.trial = TrialId{0}, .reason = "Ctrl-C"});
  EXPECT_EQ(history.trial(TrialId{0}).state, TrialState::interrupted);
  EXPECT_EQ(history.open_segments(), 1);
  EXPECT_FALSE(history.trial(TrialId{0}).resumable());
  EXPECT_THROW(history.apply(resumed(0, 3)), LogicError);
  history.apply(measured(0, 1, 0.5));
  EXPECT_EQ(history.trial(TrialId{0}).state, TrialState::running);
}

TEST(History, ProgramThatEndsByItselfIsCompletedWhereItStands) {
  History history(spec_of());
  history.apply(started(0, 4));
  history.apply(measured(0, 1, 0.5));
  history.apply(ProgramEnded{TrialId{0}});
  EXPECT_EQ(history.trial(TrialId{0}).state, TrialState::completed);
  EXPECT_EQ(history.open_segments(), 0);
}

TEST(History, NothingIsDecidedAfterTheEnd) {
  History history(spec_of());
  history.apply(StudyFinished{"spent"});
  EXPECT_TRUE(history.finished());
  EXPECT_THROW(history.apply(started(0, 1)), LogicError);
}

TEST(History, BudgetChangeReopensTheStudyWithTheNewTotal) {
  History history(spec_of());
  history.apply(StudyFinished{"spent"});
  history.apply(BudgetChanged{25.0});
  EXPECT_FALSE(history.finished());
  EXPECT_EQ(history.budget().total(), 25.0);
}

TEST(History, RefusesEventsThatCannotFollow) {
  History history(spec_of());
  EXPECT_THROW(history.apply(started(1, 1)), LogicError);        // numbers are dense
  EXPECT_THROW(history.apply(measured(0, 1, 0.5)), LogicError);  // no such trial
  history.apply(started(0, 3));
  history.apply(measured(0, 2, 0.5));                                // epoch 1 was saved and never reported
  EXPECT_THROW(history.apply(measured(0, 1, 0.5)), LogicError);      // too late
  EXPECT_THROW(history.apply(measured(0, 2, 0.5)), LogicError);      // a second time
  EXPECT_THROW(history.apply(SegmentDone{TrialId{0}}), LogicError);  // not there yet
  EXPECT_THROW(history.apply(resumed(0, 3)), LogicError);            // still running
}

TEST(History, ObjectsInWordsAndOnlyToWhatApplyRefuses) {
  History history(spec_of());
  history.apply(started(0, 2));
  const Event wrong = resumed(0, 3);
  EXPECT_EQ(history.objection(wrong), "trial 0: it is running; only a paused trial can be resumed");
  EXPECT_EQ(history.objection(measured(7, 1, 0.5)), "there is no trial 7");
  EXPECT_EQ(history.objection(measured(0, 1, 0.5, -1.0)),
            "trial 0: its cost is -1; expected a finite number, 0 or more");
  EXPECT_TRUE(history.objection(TrialStarted{.trial = TrialId{1}, .config = {{7.5}}, .until = 1}));  // x is at most 1
  EXPECT_TRUE(history.objection(BudgetChanged{std::numeric_limits<double>::quiet_NaN()}));
  EXPECT_FALSE(history.objection(measured(0, 1, 0.5)));
  EXPECT_EQ(history.trial(TrialId{0}).curve.last_epoch(), 0);  // asking changes nothing
}

TEST(History, JudgesABatchOneFactAfterTheOther) {
  History history(spec_of());
  history.apply(started(0, 2));
  const std::vector<Event> whole = {measured(0, 1, 0.5), measured(0, 2, 0.5), SegmentDone{TrialId{0}}};
  const std::vector<Event> back = {measured(0, 2, 0.5), measured(0, 1, 0.5)};
  const std::vector<Event> twice = {
      measured(0, 1, 0.5), measured(0, 2, 0.5), SegmentDone{TrialId{0}}, SegmentDone{TrialId{0}}};
  EXPECT_FALSE(history.objection(whole));
  EXPECT_EQ(history.objection(back), "trial 0: epoch 1 cannot follow epoch 2");
  EXPECT_EQ(history.objection(twice), "trial 0: it is paused; only an open segment can be done");
}

TEST(History, ATrialHasASegmentWhileItRunsOrIsInterrupted) {
  History history(spec_of());
  const auto open = [&] { return history.trial(TrialId{0}).segment.has_value(); };
  history.apply(started(0, 1, 2.0));
  EXPECT_TRUE(open());
  EXPECT_EQ(history.trial(TrialId{0}).segment->expected, 2.0);
  history.apply(Interrupted{.trial = TrialId{0}, .reason = "Ctrl-C"});
  EXPECT_TRUE(open());
  history.apply(measured(0, 1, 0.5));
  EXPECT_EQ(history.trial(TrialId{0}).segment->spent, 1.0);
  history.apply(SegmentDone{TrialId{0}});
  EXPECT_FALSE(open());
  EXPECT_EQ(history.trial(TrialId{0}).asked_until, 1);
}

TEST(History, ResumingWithoutCheckpointsPaysForAllEpochsAgain) {
  StudySpec spec = spec_of();
  History kept(spec);
  spec.checkpoint = Checkpoint::none;
  History none(spec);
  for (History* history : {&kept, &none}) {
    history->apply(started(0, 2));
    history->apply(measured(0, 1, 0.5));
    history->apply(measured(0, 2, 0.5));
  }
  EXPECT_EQ(kept.epochs_to_pay(kept.trial(TrialId{0}), 5), 3);
  EXPECT_EQ(none.epochs_to_pay(none.trial(TrialId{0}), 5), 5);
}

TEST(History, FailuresInARowEndWithTheNextReport) {
  History history(spec_of());
  history.apply(started(0, 1));
  history.apply(TrialFailed{TrialId{0}, "exit code 1"});
  history.apply(started(1, 1));
  history.apply(TrialFailed{TrialId{1}, "exit code 1"});
  EXPECT_EQ(history.failures_in_a_row(), 2);
  history.apply(started(2, 1));
  history.apply(measured(2, 1, 0.1));
  EXPECT_EQ(history.failures_in_a_row(), 0);
}

TEST(History, FailuresInARowEndOnlyWithATrialThatGetsFurther) {
  History history(spec_of());
  for (int trial = 0; trial < 3; ++trial) {  // a program that always fails in its second epoch
    history.apply(started(trial, 2));
    history.apply(measured(trial, 1, 0.1));
    history.apply(TrialFailed{TrialId{trial}, "exit code 1"});
  }
  EXPECT_EQ(history.failures_in_a_row(), 3);
  history.apply(started(3, 2));
  history.apply(measured(3, 1, 0.1));
  EXPECT_EQ(history.failures_in_a_row(), 3);
  history.apply(measured(3, 2, 0.1));
  EXPECT_EQ(history.failures_in_a_row(), 0);
}

TEST(History, TheEarliestOfTheFailuresInARowSaysHowFarATrialMustGet) {
  History history(spec_of());
  history.apply(started(0, 4));
  for (int epoch = 1; epoch <= 3; ++epoch) history.apply(measured(0, epoch, 0.1));
  history.apply(TrialFailed{TrialId{0}, "bad luck"});
  history.apply(started(1, 1));
  history.apply(measured(1, 1, 0.1));
  EXPECT_EQ(history.failures_in_a_row(), 1) << "the failure was in epoch 4";
  history.apply(TrialFailed{TrialId{1}, "bad luck"});
  history.apply(started(2, 2));
  history.apply(measured(2, 1, 0.1));
  EXPECT_EQ(history.failures_in_a_row(), 2);
  history.apply(measured(2, 2, 0.1));
  EXPECT_EQ(history.failures_in_a_row(), 0);
}

TEST(History, TheSumOfAllCostsStaysFinite) {
  History history(spec_of());
  history.apply(started(0, 3));
  const Measured huge{TrialId{0}, {1, 0.5, 1e308}};
  EXPECT_TRUE(history.objection(std::vector<Event>{huge, Overhead{TrialId{0}, OverheadKind::grace, 2, 1e308}}));
  history.apply(huge);
  EXPECT_TRUE(history.objection(Overhead{TrialId{0}, OverheadKind::grace, 2, 1e308}));
  EXPECT_FALSE(history.objection(Overhead{TrialId{0}, OverheadKind::grace, 2, 1.0}));
}

TEST(History, OverdrawnAreTheTrialsThatEmptiedTheBudgetOrCameAfter) {
  StudySpec spec = spec_of();
  spec.budget.limit = 2.0;
  History history(spec);
  history.apply(started(0, 3));
  history.apply(started(1, 3));
  history.apply(Measured{TrialId{0}, {1, 0.5, 1.0}});
  EXPECT_TRUE(history.overdrawn().empty());
  history.apply(Measured{TrialId{1}, {1, 0.5, 1.5}});
  EXPECT_EQ(history.overdrawn(), std::set<TrialId>{TrialId{1}});
  history.apply(BudgetChanged{.total = 10.0});
  EXPECT_TRUE(history.overdrawn().empty());
}

TEST(History, UsersMayStopWhatRunsAndPoliciesOnlyWhatIsPaused) {
  StudySpec spec;
  spec.name = "x";
  spec.budget = {.limit = 10.0, .unit = "epochs", .meter = Meter::epochs};
  spec.epochs = {.min = 1, .max = 5};
  History history(spec);
  history.apply(TrialStarted{.trial = TrialId{0}, .config = {{0.5}}, .until = 5, .expected_cost = 5.0});
  history.apply(Measured{.trial = TrialId{0}, .measurement = {.epoch = 1, .value = 0.1, .cost = 1.0}});
  EXPECT_TRUE(history.objection(TrialStopped{.trial = TrialId{0}, .why = {.rule = Rule::not_promoted}}));
  const Event stop = TrialStopped{.trial = TrialId{0}, .why = {.rule = Rule::asked_for_by_user}};
  EXPECT_FALSE(history.objection(stop));
  history.apply(stop);
  EXPECT_EQ(history.trial(TrialId{0}).state, TrialState::stopped);
  EXPECT_EQ(history.open_segments(), 0);
  EXPECT_EQ(history.budget().committed(), 0.0);
  EXPECT_TRUE(history.objection(stop)) << "it is stopped";
  EXPECT_FALSE(history.objection(Measured{.trial = TrialId{0}, .measurement = {.epoch = 2, .value = 0.2, .cost = 1.0}}))
      << "a program may report once more while it is ended";
}

}  // namespace history_test
}  // namespace bapi
