#include "bapi/process/training_process.h"

#include <gtest/gtest.h>

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

}  // namespace
}  // namespace bapi
