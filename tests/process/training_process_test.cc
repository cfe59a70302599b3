#include "bapi/process/training_process.h"

#include <gtest/gtest.h>
#include <signal.h>

#include "tests/process/trainer_study.h"

namespace bapi {
namespace {

TEST(Spread, ReportsReadTogetherShareTheTimeEvenly) {
  const std::vector<TimedReport> timed = spread({ReadyReport{}, ReadyReport{}, ReadyReport{}}, 10.0, 16.0);
  ASSERT_EQ(timed.size(), 3u);
  EXPECT_EQ(timed[0].at, 12.0);
  EXPECT_EQ(timed[1].at, 14.0);
  EXPECT_EQ(timed[2].at, 16.0);
  EXPECT_TRUE(spread({}, 10.0, 16.0).empty());
}

TEST(AppendNote, StandsOnALineOfItsOwn) {
  const TempDir scratch;
  const TrialDir dir = StudyDir(scratch.path()).trial(TrialId{0});
  dir.create();
  append_note(dir, "one");
  std::ofstream(dir.log(), std::ios::app) << "half a line";
  append_note(dir, "two");
  EXPECT_EQ(text_of(dir.log()), "[bapi] one\nhalf a line\n[bapi] two\n");
}

// The guardian, which would stamp the end, stands still.
TEST(TrainingProcess, WhatIsKilledHasTrainedUntilThenHoweverLateItsEndIsSeen) {
  constexpr double kLate = 1000.0;
  const TempDir scratch;
  const StudySpec spec = in_seconds(trainer_spec({"--sleep", "1000"}));
  Guardian guardian(1, 0.0);
  const Assignment assignment = {.segment = segment(0, 0, 3),
                                 .from = 0,
                                 .dir = StudyDir(scratch.path()).trial(TrialId{0}),
                                 .deadline = {},
                                 .mark = guardian.mark()};
  auto started = TrainingProcess::start(spec, assignment, guardian.now(), {-1, -1}, guardian, [] {});
  TrainingProcess& process = *std::get<std::unique_ptr<TrainingProcess>>(started);
  ::kill(guardian.identity().pid, SIGSTOP);
  const double killed = guardian.now();
  process.end(TrainingProcess::Ending::released, 0.0, killed);
  while (!process.look_for_exit(killed + kLate)) ::usleep(1000);
  EXPECT_GE(*process.gone_at(), killed);
  EXPECT_LT(*process.gone_at(), killed + kLate / 2.0);
  ::kill(guardian.identity().pid, SIGCONT);
}

}  // namespace
}  // namespace bapi
