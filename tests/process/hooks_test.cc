#include "bapi/process/hooks.h"

#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "tests/support/temp_dir.h"

namespace bapi {
namespace {

using test::TempDir;

class Hook : public testing::Test {
 protected:
  Hook() {
    spec_.name = "mlp";
    spec_.metric = {.name = "accuracy"};
    spec_.budget = {.limit = 100.0, .unit = "epochs", .meter = Meter::epochs};
    spec_.epochs = {.min = 1, .max = 9};
    spec_.cwd = scratch_.path().string();
    dir_.create();
  }

  // Tells everything that follows from the events, as a run does.
  HookRunner& tell(const std::vector<Event>& events, HookLimits limits = {}) {
    history_.emplace(spec_);
    runner_.emplace(spec_, HookPlace{.dir = dir_, .study = "#mlp", .log = dir_.root() / "hooks.log"}, clock_, limits);
    NoticeWriter writer(*history_);
    for (const Event& event : events) {
      history_->apply(event);
      for (const Notice& notice : writer.of(event, *history_)) runner_->tell(notice, *history_);
    }
    return *runner_;
  }

  static std::vector<Event> one_epoch() {
    return {TrialStarted{.trial = TrialId{0}, .config = {{0.25}}, .until = 9}, Measured{TrialId{0}, {1, 0.5, 1.0}}};
  }

  static std::vector<std::string> shell(const std::string& script) { return {"/bin/sh", "-c", script}; }

  std::string log() const {
    std::ifstream file(dir_.root() / "hooks.log");
    std::ostringstream text;
    text << file.rdbuf();
    return text.str();
  }

  TempDir scratch_;
  StudyDir dir_{scratch_.path() / "mlp.bapi"};
  ManualClock clock_{1000.0};
  StudySpec spec_;
  std::optional<History> history_;
  std::optional<HookRunner> runner_;
};

TEST_F(Hook, LearnsWhatHappenedFromItsEnvironment) {
  spec_.hooks.best = shell(
      "echo $BAPI_EVENT $BAPI_STUDY $BAPI_TRIAL $BAPI_EPOCH $BAPI_METRIC $BAPI_VALUE $BAPI_METRICS $BAPI_VALUES "
      "$BAPI_BEST_TRIAL $BAPI_SPENT $BAPI_BUDGET $BAPI_UNIT");
  tell(one_epoch()).finish();
  EXPECT_EQ(log(), "best mlp 0 1 accuracy 0.5 {\"accuracy\":0.5} {\"x\":0.25} 0 1 100 epochs\n");
}

TEST_F(Hook, HooksRunOneAfterTheOtherInTheOrderOfEvents) {
  spec_.hooks.epoch = shell("sleep 0.05; echo epoch $BAPI_EPOCH");
  spec_.hooks.study_end = shell("echo end: $BAPI_REASON");
  std::vector<Event> events = one_epoch();
  events.emplace_back(Measured{TrialId{0}, {2, 0.4, 1.0}});
  events.emplace_back(StudyFinished{"budget spent"});
  tell(events).finish();
  EXPECT_EQ(log(), "epoch 1\nepoch 2\nend: budget spent\n");
}

TEST_F(Hook, WhatIsNotAskedForIsNotRun) {
  spec_.hooks.study_end = shell("echo end");
  tell(one_epoch()).finish();
  EXPECT_EQ(log(), "");
}

TEST_F(Hook, AProgramThatCannotBeRunIsALineOfTheLog) {
  spec_.hooks.epoch = {"no-such-program-of-ours"};
  spec_.hooks.best = shell("exit 3");
  tell(one_epoch()).finish();
  EXPECT_NE(log().find("[bapi] epoch: cannot run 'no-such-program-of-ours'"), std::string::npos) << log();
  EXPECT_NE(log().find("[bapi] best: exit code 3"), std::string::npos) << log();
}

TEST_F(Hook, OneThatTakesTooLongIsKilledAndTheNextOneRuns) {
  spec_.hooks.epoch = shell("sleep 1000");
  spec_.hooks.best = shell("echo next");
  HookRunner& runner = tell(one_epoch(), {.seconds = 60.0});
  clock_.advance(61.0);
  runner.finish();
  EXPECT_EQ(log(), "[bapi] epoch: killed, it took longer than 60 s\n[bapi] epoch: killed by SIGKILL (Killed)\nnext\n");
}

TEST_F(Hook, TheEndOfAStudyDoesNotWaitForHooksThatHang) {
  spec_.hooks.epoch = shell("sleep 1000");
  spec_.hooks.best = shell("echo next");
  tell(one_epoch(), {.last_seconds = 0.0}).finish();
  EXPECT_EQ(log(), "[bapi] the study has ended; 2 more hooks are left out\n");
}

TEST_F(Hook, TheEndOfAStudyIsToldEvenIfAnotherHookHangs) {
  spec_.hooks.epoch = shell("sleep 1000");
  spec_.hooks.study_end = shell("echo end: $BAPI_REASON");
  std::vector<Event> events = one_epoch();
  events.emplace_back(Measured{TrialId{0}, {2, 0.4, 1.0}});
  events.emplace_back(StudyFinished{"budget spent"});
  tell(events, {.last_seconds = 0.0}).finish();
  EXPECT_EQ(log(), "[bapi] the study has ended; 2 more hooks are left out\nend: budget spent\n");
}

TEST_F(Hook, OneThatFloodsItsLogIsKilledAndLaterOutputIsNotKept) {
  spec_.hooks.epoch = shell("yes");
  spec_.hooks.best = shell("echo next; touch next");
  tell(one_epoch(), {.log_bytes = 1'000'000}).finish();
  EXPECT_NE(log().find("[bapi] epoch: killed, hooks.log is longer than 1 MB"), std::string::npos);
  EXPECT_EQ(log().find("next"), std::string::npos);
  EXPECT_TRUE(std::filesystem::exists(scratch_.path() / "next"));
}

TEST_F(Hook, WhenTooManyWaitTheOldestEpochMakesRoom) {
  spec_.hooks.epoch = shell("while [ ! -e go ]; do sleep 0.01; done; echo epoch $BAPI_EPOCH");
  spec_.hooks.study_end = shell("echo end");
  std::vector<Event> events = one_epoch();
  for (Epoch epoch = 2; epoch <= 6; ++epoch) events.emplace_back(Measured{TrialId{0}, {epoch, 0.4, 1.0}});
  events.emplace_back(StudyFinished{"budget spent"});
  HookRunner& runner = tell(events, {.waiting = 2});
  std::ofstream(scratch_.path() / "go").flush();
  runner.finish();
  EXPECT_EQ(log(),
            "[bapi] hooks cannot keep up with the events: the oldest events are dropped\n"
            "epoch 1\nepoch 6\nend\n");
}

TEST_F(Hook, ALogThatCannotBeWrittenHarmsNothing) {
  std::filesystem::create_directory(dir_.root() / "hooks.log");
  spec_.hooks.epoch = shell("echo epoch");
  EXPECT_NO_THROW(tell(one_epoch()).finish());
}

}  // namespace
}  // namespace bapi
