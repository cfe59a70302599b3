#include "bapi/dashboard/planner.h"

#include "tests/report/sample_study.h"

namespace bapi {
namespace {

TEST(PlannerRest, LeavesFourFifthsOfACoreToOthers) {
  for (const double used : {0.01, 0.5, 20.0}) {
    const double rest = planner_rest(used, used);  // it had a core to itself
    EXPECT_LE(used / (used + rest), 0.2);
    EXPECT_GE(used / (used + rest), 0.15);
  }
}

// Where training programs keep every core busy, an answer takes long without using much.
TEST(PlannerRest, CountsTheTimeSpentWaitingForTheProcessor) {
  EXPECT_DOUBLE_EQ(planner_rest(1.0, 3.0), planner_rest(1.0, 1.0) - 2.0);
  EXPECT_DOUBLE_EQ(planner_rest(1.0, 60.0), 0.0);
}

TEST(PlannerAttention, EndsSoonAfterThePageThatShowedAnAnswer) {
  Attention attention;
  EXPECT_FALSE(attention.lasts(0.0));
  attention.asked(100.0);
  for (double now = 100.1; now < 200.0; now += 0.1) {
    attention.shown(now);
    EXPECT_TRUE(attention.lasts(now + 1.0));
  }
  EXPECT_FALSE(attention.lasts(204.0));
}

TEST(PlannerAttention, LastsLongerForAScriptThatComesBack) {
  Attention attention;
  attention.asked(100.0);
  EXPECT_TRUE(attention.lasts(130.0));
  EXPECT_FALSE(attention.lasts(170.0));
}

PlannerQuestion some_question() {
  StudySpec spec = sample_spec();
  spec.budget = {.limit = 60.0, .unit = "epochs", .meter = Meter::epochs};
  SampleLog log;
  for (int i = 0; i < 4; ++i) {
    log.add(TrialStarted{.trial = TrialId{i}, .config = sample_config(1e-3 * (i + 1), 32), .until = 4});
    for (Epoch epoch = 1; epoch <= 4; ++epoch) log.add(measured(i, epoch, 0.1 * i + 0.1 * epoch, 1.0));
    log.add(SegmentDone{.trial = TrialId{i}});
  }
  return {.study = {.dir = StudyDir("."), .history = replay(spec, log.events())}, .as_of = 7};
}

TEST(InsightRecord, IsGivenUpWhereverNobodyWantsItAnyMore) {
  int asked = 0;
  const auto whole = insight_record(some_question(), 1.0, [&] { return ++asked > 0; });
  ASSERT_TRUE(whole);
  EXPECT_EQ(whole->trouble, "");
  EXPECT_FALSE(whole->forecast.is_null());
  ASSERT_GT(asked, 3);
  for (int most = 0; most < asked; ++most) {
    int left = most;
    EXPECT_FALSE(insight_record(some_question(), 1.0, [&] { return left-- > 0; })) << most;
  }
}

}  // namespace
}  // namespace bapi
