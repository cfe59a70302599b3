#include "bapi/control/failures.h"

#include <gtest/gtest.h>

namespace bapi {
namespace {

constexpr TrialId kFirst{0};
constexpr TrialId kSecond{1};

class Failures : public testing::Test {
 protected:
  Failures() {
    spec_.name = "test";
    spec_.command = {"train", "${x}"};
    spec_.metric = {.name = "score", .goal = Goal::maximize};
    spec_.budget = {.limit = 100.0, .unit = "epochs", .meter = Meter::epochs};
    spec_.epochs = {.min = 1, .max = 9};
  }

  // Two trials, the first of which has reported if `reports`.
  History history(bool reports) const {
    History history(spec_);
    for (const TrialId trial : {kFirst, kSecond}) {
      history.apply(TrialStarted{.trial = trial, .config = {{0.5}}, .until = 3});
    }
    if (reports) history.apply(measured(kFirst, 1));
    return history;
  }

  static Event measured(TrialId trial, Epoch epoch) { return Measured{trial, {.epoch = epoch, .value = 1, .cost = 1}}; }
  static Event failed(TrialId trial, FailureCause cause) { return TrialFailed{trial, "exit code 1", cause}; }
  static Event interrupted(TrialId trial) { return Interrupted{trial, "exit code 1"}; }
  static Event retried(TrialId trial) { return TrialRetried{.trial = trial, .reason = "exit code 1"}; }

  StudySpec spec_;
};

using Facts = std::vector<Event>;

TEST_F(Failures, BeforeAnyReportTheRunEndsAndNoTrialFails) {
  for (const FailureCause cause : {FailureCause::crashed,
                                   FailureCause::raised,
                                   FailureCause::not_run,
                                   FailureCause::silent,
                                   FailureCause::no_report,
                                   FailureCause::wrong_report}) {
    const Judgement judged = judge(history(false), Facts{failed(kFirst, cause)}, {});
    EXPECT_EQ(judged.facts, Facts{interrupted(kFirst)}) << word(cause);
    ASSERT_TRUE(judged.ends_run.has_value()) << word(cause);
    EXPECT_NE(judged.ends_run->find("exit code 1"), std::string::npos);
    EXPECT_NE(judged.ends_run->find("no trial is marked as failed"), std::string::npos);
    EXPECT_NE(judged.ends_run->find("continues with trial 0"), std::string::npos);
    EXPECT_TRUE(judged.retried.empty());
  }
}

TEST_F(Failures, AValueThatIsNotFiniteIsAResult) {
  const Facts facts = {failed(kFirst, FailureCause::diverged)};
  const Judgement judged = judge(history(false), facts, {});
  EXPECT_EQ(judged.facts, facts);
  EXPECT_FALSE(judged.ends_run);
}

TEST_F(Failures, WhoeverKeepsGoingHasThemRecorded) {
  const Facts facts = {failed(kFirst, FailureCause::crashed), failed(kSecond, FailureCause::wrong_report)};
  const Judgement judged = judge(history(false), facts, {.keep_going = true});
  EXPECT_EQ(judged.facts, facts);
  EXPECT_FALSE(judged.ends_run);
}

TEST_F(Failures, AReportOfTheSameBatchCounts) {
  const Facts facts = {measured(kFirst, 1), failed(kSecond, FailureCause::crashed)};
  EXPECT_EQ(judge(history(false), facts, {}).facts, (Facts{measured(kFirst, 1), retried(kSecond)}))
      << "the program is known to work";
  const Facts own = {measured(kFirst, 1), failed(kFirst, FailureCause::crashed)};
  EXPECT_EQ(judge(history(false), own, {}).facts, (Facts{measured(kFirst, 1), retried(kFirst)}));
}

TEST_F(Failures, ATrialThatHadReportedIsRetriedAsOftenAsTheStudySays) {
  History known = history(true);
  const Facts death = {failed(kFirst, FailureCause::crashed)};
  const Judgement once = judge(known, death, {});
  EXPECT_EQ(once.facts, Facts{retried(kFirst)});
  EXPECT_EQ(once.retried, std::vector<TrialId>{kFirst});
  known.apply(once.facts.front());
  EXPECT_EQ(known.trial(kFirst).state, TrialState::running);
  EXPECT_EQ(judge(known, death, {}).facts, death);
  known.apply(measured(kFirst, 2));
  EXPECT_EQ(judge(known, death, {}).facts, Facts{retried(kFirst)}) << "it has trained a new epoch";
  spec_.retries = 0;
  EXPECT_EQ(judge(history(true), death, {}).facts, death);
}

TEST_F(Failures, OnlyDeathsAreRetried) {
  for (const FailureCause cause : {FailureCause::raised, FailureCause::silent, FailureCause::wrong_report}) {
    const Facts facts = {failed(kFirst, cause)};
    EXPECT_EQ(judge(history(true), facts, {}).facts, facts) << word(cause);
  }
}

TEST_F(Failures, AProgramThatCannotBeRunEndsTheRunAtAnyTime) {
  const Facts facts = {failed(kFirst, FailureCause::not_run)};
  const Judgement judged = judge(history(true), facts, {.keep_going = true});
  EXPECT_EQ(judged.facts, Facts{interrupted(kFirst)});
  EXPECT_NE(judged.ends_run.value_or("").find("Fix the command"), std::string::npos);
  spec_.command = {"./train-${x}"};
  EXPECT_EQ(judge(history(true), facts, {}).facts, facts) << "which program it is depends on the configuration";
}

TEST_F(Failures, WhatDiesWhileTheRunIsEndedIsNotToBlame) {
  const Judgement judged = judge(history(true), Facts{failed(kSecond, FailureCause::crashed)}, {.being_ended = true});
  EXPECT_EQ(judged.facts, Facts{interrupted(kSecond)});
  EXPECT_FALSE(judged.ends_run);
}

TEST_F(Failures, OfATrialThatTheUserStoppedOnlyWhatItReportedAndCostIsKept) {
  History known = history(true);
  known.apply(TrialStopped{.trial = kFirst, .why = {.rule = Rule::asked_for_by_user}});
  const Facts late = {measured(kFirst, 2),
                      measured(kFirst, 3),
                      SegmentDone{kFirst},
                      interrupted(kFirst),
                      failed(kFirst, FailureCause::crashed),
                      measured(kSecond, 1)};
  const Judgement judged = judge(known, late, {});
  EXPECT_EQ(judged.facts, (Facts{measured(kFirst, 2), measured(kFirst, 3), measured(kSecond, 1)}));
  EXPECT_TRUE(judged.retried.empty());
  EXPECT_FALSE(known.objection(judged.facts));
}

TEST_F(Failures, AFailedTrialCanBeRetriedByTheUser) {
  History known = history(true);
  known.apply(failed(kFirst, FailureCause::crashed));
  EXPECT_TRUE(known.objection(TrialRetried{.trial = kFirst, .until = 1})) << "it has epoch 1";
  EXPECT_TRUE(known.objection(TrialRetried{.trial = kFirst, .until = 10})) << "the study has nine epochs";
  known.apply(TrialRetried{.trial = kFirst, .reason = "asked for", .until = 3});
  const Trial& trial = known.trial(kFirst);
  EXPECT_EQ(trial.state, TrialState::interrupted);
  EXPECT_EQ(trial.segment->until, 3);
  EXPECT_EQ(trial.failure, "");
  EXPECT_EQ(known.failures_in_a_row(), 0);
  EXPECT_EQ(known.open_segments(), 2);
}

}  // namespace
}  // namespace bapi
