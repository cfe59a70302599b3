#include "bapi/study/progress.h"

#include <gtest/gtest.h>

#include "bapi/study/direction.h"
#include "tests/report/sample_study.h"

namespace bapi {
namespace {

History sample_history() { return replay(sample_spec(), sample_log().events()); }

TEST(Best, IsTheIncumbentWithItsBestEpochNotItsLast) {
  const std::optional<Best> found = best(sample_history());
  ASSERT_TRUE(found);
  EXPECT_EQ(index(found->trial), 1);
  EXPECT_EQ(found->epoch, 2);
  EXPECT_EQ(found->value, 0.9);
  EXPECT_EQ(found->config, sample_config(0.01, 64));
}

TEST(Best, IsInTheUsersDirectionWhenMinimizing) {
  const std::optional<Best> found = best(replay(sample_spec(Goal::minimize), sample_log().events()));
  ASSERT_TRUE(found);
  EXPECT_EQ(index(found->trial), 0);
  EXPECT_EQ(found->epoch, 1);
  EXPECT_EQ(found->value, 0.5);
}

TEST(Best, DoesNotExistBeforeTheFirstReport) { EXPECT_FALSE(best(History(sample_spec()))); }

TEST(SpentReports, AreAllReportsWithWhatTheStudyHadSpentByThenToTheLastBit) {
  const std::vector<SpentReport> reports = spent_reports(sample_spec(), sample_log().events());
  ASSERT_EQ(reports.size(), 5u);
  EXPECT_EQ(reports[0].spent, 0.1 + 1.1);
  EXPECT_EQ(reports[1].spent, 0.1 + 1.1 + 1.3);
  EXPECT_EQ(reports[1].at, 1004.0);
  EXPECT_EQ(reports[4].measurement.epoch, 3);
  // Only the charge of the failed trial comes after it.
  EXPECT_EQ(reports[4].spent + 0.3, sample_history().budget().spent());
}

TEST(Improvements, AreInTheUsersDirectionAndEndWithTheBest) {
  const std::vector<SpentReport> up = improvements(sample_spec(), sample_log().events());
  ASSERT_EQ(up.size(), 4u);
  EXPECT_EQ(up[0].measurement.value, 0.5);
  EXPECT_EQ(up[0].spent, 0.1 + 1.1);
  EXPECT_EQ(up[3].measurement.value, best(sample_history())->value);
  EXPECT_EQ(up[3].trial, best(sample_history())->trial);

  const std::vector<SpentReport> down = improvements(sample_spec(Goal::minimize), sample_log().events());
  ASSERT_EQ(down.size(), 1u);
  EXPECT_EQ(down[0].measurement.value, 0.5);
}

TEST(Oriented, TurnsValuesThereAndBack) {
  EXPECT_EQ(oriented(0.25, Goal::minimize), -0.25);
  EXPECT_EQ(oriented(oriented(0.25, Goal::minimize), Goal::minimize), 0.25);
  EXPECT_EQ(oriented(0.25, Goal::maximize), 0.25);
}

}  // namespace
}  // namespace bapi
