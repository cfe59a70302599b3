#include "bapi/study/notices.h"

#include <gtest/gtest.h>

namespace bapi {
namespace {

class Notices : public testing::Test {
 protected:
  static StudySpec spec(Goal goal) {
    StudySpec spec;
    spec.budget = {.limit = 100.0, .unit = "epochs", .meter = Meter::epochs};
    spec.epochs = {.min = 1, .max = 3};
    spec.metric.goal = goal;
    return spec;
  }

  std::vector<std::string> after(const Event& event) {
    history_.apply(event);
    std::vector<std::string> texts;
    for (const Notice& notice : writer_.of(event, history_)) {
      texts.emplace_back(word(notice.kind));
      last_ = notice;
    }
    return texts;
  }

  std::vector<std::string> start(int trial) {
    return after(TrialStarted{.trial = TrialId{trial}, .config = {{0.5}}, .until = 3});
  }
  std::vector<std::string> report(int trial, Epoch epoch, double value) {
    return after(Measured{TrialId{trial}, {epoch, value, 1.0}});
  }

  using Words = std::vector<std::string>;
  History history_{spec(Goal::minimize)};
  NoticeWriter writer_{history_};
  Notice last_;
};

TEST_F(Notices, AnEpochIsToldAndTheBestOfTheStudyTwice) {
  EXPECT_EQ(start(0), Words{});
  EXPECT_EQ(report(0, 1, 0.5), (Words{"epoch", "best"}));
  EXPECT_EQ(last_.value, 0.5);
  EXPECT_EQ(report(0, 2, 0.6), Words{"epoch"});
  start(1);
  EXPECT_EQ(report(1, 1, 0.5), Words{"epoch"});
  EXPECT_EQ(report(1, 2, 0.4), (Words{"epoch", "best"}));
}

TEST_F(Notices, TheEndOfATrialIsToldOnceWithItsState) {
  start(0);
  for (Epoch epoch = 1; epoch <= 3; ++epoch) report(0, epoch, 0.5);
  EXPECT_EQ(after(SegmentDone{TrialId{0}}), Words{"trial_end"});
  EXPECT_EQ(last_.state, "completed");
  EXPECT_EQ(last_.epoch, 3);
  start(1);
  EXPECT_EQ(after(TrialFailed{.trial = TrialId{1}, .message = "no memory"}), Words{"trial_end"});
  EXPECT_EQ(last_.state, "failed");
  EXPECT_EQ(last_.reason, "no memory");
  EXPECT_EQ(after(Overhead{.trial = TrialId{1}, .kind = OverheadKind::failed, .epoch = 1, .cost = 1.0}), Words{});
}

TEST_F(Notices, APausedTrialHasNotEnded) {
  after(TrialStarted{.trial = TrialId{0}, .config = {{0.5}}, .until = 1});
  report(0, 1, 0.5);
  EXPECT_EQ(after(SegmentDone{TrialId{0}}), Words{});
  EXPECT_EQ(after(TrialStopped{TrialId{0}}), Words{"trial_end"});
  EXPECT_EQ(last_.state, "stopped");
}

TEST_F(Notices, TheEndOfTheStudyHasItsReason) {
  EXPECT_EQ(after(StudyFinished{"budget spent"}), Words{"study_end"});
  EXPECT_EQ(last_.reason, "budget spent");
}

TEST_F(Notices, WhatTheHistoryHoldsAlreadyIsNoNews) {
  start(0);
  report(0, 1, 0.2);
  NoticeWriter later(history_);
  history_.apply(Measured{TrialId{0}, {2, 0.3, 1.0}});
  EXPECT_EQ(later.of(Measured{TrialId{0}, {2, 0.3, 1.0}}, history_).size(), 1u);
}

TEST_F(Notices, OtherMetricsGoAlong) {
  start(0);
  after(Measured{.trial = TrialId{0},
                 .measurement = {.epoch = 1, .value = 0.5, .cost = 1.0},
                 .others = Rare<OtherMetrics>(OtherMetrics{{"recall", 0.7}})});
  EXPECT_EQ(last_.others, (OtherMetrics{{"recall", 0.7}}));
}

}  // namespace
}  // namespace bapi
