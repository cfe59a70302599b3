#include "bapi/studies/run_study.h"

#include <gtest/gtest.h>

#include <fstream>

#include "bapi/base/error.h"
#include "bapi/store/sqlite_store.h"
#include "tests/support/temp_dir.h"

namespace bapi {
namespace {

// Every epoch reports its own number, up to the last one that the budget pays for.
StudySpec shell_study(double epochs) {
  StudySpec spec;
  spec.name = "shell";
  spec.command = {"sh",
                  "-c",
                  "echo \"deadline $BAPI_DEADLINE\"; for e in $(seq 1 $BAPI_MAX_EPOCH); do "
                  "echo \"bapi: {\\\"epoch\\\": $e, \\\"value\\\": $e}\"; done"};
  spec.budget = {.limit = epochs, .unit = "epochs", .meter = Meter::epochs};
  spec.epochs = {.min = 1, .max = 3};
  spec.checkpoint = Checkpoint::none;
  spec.policy = {.name = "random"};
  return spec;
}

class RunStudy : public testing::Test {
 protected:
  StudyDir dir() const { return StudyDir(temp_.path() / "shell.bapi"); }
  test::TempDir temp_;
};

std::int64_t reads_during(const std::function<void()>& action) {
  const std::int64_t before = SqliteStore::whole_reads();
  action();
  return SqliteStore::whole_reads() - before;
}

TEST_F(RunStudy, SpendsTheBudgetAndReturnsTheStudyAsItStands) {
  const StudySummary summary = run_study(shell_study(12), dir());
  EXPECT_EQ(summary.end, TuneEnd::finished);
  EXPECT_TRUE(summary.study.history.finished());
  EXPECT_EQ(summary.study.history.budget().spent(), 12.0);
  EXPECT_EQ(best(summary.study.history)->value, 3.0);
  EXPECT_EQ(summary.study.controller, Controller::absent);
}

TEST_F(RunStudy, ReadsNothingOfANewStudyAndTheLogOfAnOldOneOnce) {
  EXPECT_EQ(reads_during([&] { run_study(shell_study(6), dir()); }), 0);
  EXPECT_EQ(reads_during([&] { run_study(shell_study(12), dir()); }), 1);
  EXPECT_EQ(reads_during([&] { resume_study(dir(), {.budget = "15 epochs"}); }), 1);
}

TEST_F(RunStudy, WhatItReturnsIsWhatIsInTheLog) {
  run_study(shell_study(6), dir());
  const StudySummary summary = run_study(shell_study(12), dir());
  const StudyView read = open_study(dir().root().string());
  EXPECT_EQ(summary.study.events, read.events);
  EXPECT_EQ(summary.study.history.budget().spent(), read.history.budget().spent());
  EXPECT_EQ(summary.study.history.trials().size(), read.history.trials().size());
}

TEST_F(RunStudy, TakesOverWhatMayChangeAndTellsIt) {
  run_study(shell_study(6), dir());
  StudySpec edited = shell_study(12);
  edited.workers = 2;
  edited.deadline = 600.0;
  std::vector<std::string> told;
  const StudySummary summary =
      run_study(edited, dir(), {.tell = [&](const std::string& line) { told.push_back(line); }});
  EXPECT_EQ(summary.study.spec().workers, 2);
  EXPECT_EQ(summary.study.spec().deadline, 600.0);
  EXPECT_EQ(summary.study.history.budget().total(), 12.0);
  EXPECT_EQ(told.size(), 3u);
  // Programs are told the deadline that the study has now.
  std::ifstream log(dir().trial(TrialId{std::ssize(summary.study.history.trials()) - 1}).log());
  std::string first;
  std::getline(log, first);
  EXPECT_NE(first, "deadline ");
}

TEST_F(RunStudy, RefusesWhatWouldMakeResultsIncomparable) {
  run_study(shell_study(6), dir());
  StudySpec edited = shell_study(12);
  edited.metric.name = "loss";
  EXPECT_THROW(run_study(edited, dir()), InvalidInput);
  EXPECT_EQ(open_study(dir().root().string()).history.budget().total(), 6.0);
}

TEST_F(RunStudy, MakesNothingForAPolicyThatDoesNotExist) {
  StudySpec spec = shell_study(6);
  spec.policy.name = "nonsense";
  EXPECT_THROW(run_study(spec, dir()), InvalidInput);
  EXPECT_FALSE(std::filesystem::exists(dir().root()));
}

TEST_F(RunStudy, MakesNothingForASpecificationThatIsWrong) {
  StudySpec spec = shell_study(6);
  spec.metric.name = "cost";
  EXPECT_THROW(run_study(spec, dir()), InvalidInput);
  EXPECT_FALSE(std::filesystem::exists(dir().root()));
}

// Version 0.1 took names and texts that are refused for new studies.
TEST_F(RunStudy, GoesOnWithAStudyWhoseNamesWereAcceptedOnce) {
  StudySpec spec = shell_study(6);
  spec.command.push_back("\x7f");
  spec.env["BAPI_NOTE"] = "x";
  dir().create();
  SqliteStore::create(dir().database(), spec);
  EXPECT_EQ(run_study(spec, dir()).end, TuneEnd::finished);
  const StudySummary resumed = resume_study(dir(), {.budget = "9 epochs", .workers = 2});
  EXPECT_EQ(resumed.end, TuneEnd::finished);
  EXPECT_EQ(resumed.study.history.budget().total(), 9.0);
  EXPECT_THROW(resume_study(dir(), {.workers = 0}), InvalidInput);
  spec.env["BAPI_MORE"] = "y";
  EXPECT_THROW(run_study(spec, dir()), InvalidInput);
}

TEST_F(RunStudy, ShowsEveryEventOnceItIsInTheHistory) {
  std::vector<Event> seen;
  int ticks = 0;
  const StudySummary summary = run_study(shell_study(6), dir(), {.listener = [&](const RunUpdate& update) {
                                           update.event ? seen.push_back(*update.event) : void(++ticks);
                                         }});
  ASSERT_EQ(seen.size(), summary.study.events.size());
  for (std::size_t i = 0; i < seen.size(); ++i) EXPECT_EQ(seen[i], summary.study.events[i].event);
  EXPECT_GT(ticks, 0);
}

TEST_F(RunStudy, AnInterruptedStudyGoesOnWhereItWas) {
  std::atomic<bool> stop = false;
  RunOptions impatient{.interrupt = &stop, .listener = [&](const RunUpdate& update) {
                         if (!update.session.history().trials().empty()) stop = true;
                       }};
  EXPECT_EQ(run_study(shell_study(12), dir(), impatient).end, TuneEnd::interrupted);
  EXPECT_EQ(resume_study(dir()).study.history.budget().spent(), 12.0);
}

}  // namespace
}  // namespace bapi
