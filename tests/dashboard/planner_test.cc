#include "bapi/dashboard/planner.h"

namespace bapi {
namespace {

TEST(PlannerRest, LeavesFourFifthsOfACoreToOthers) {
  for (const double used : {0.01, 0.5, 20.0}) {
    const double rest = planner_rest(used, used);  // it had a core to itself
    EXPECT_DOUBLE_EQ(used / (used + rest), 0.2);
  }
}

// Where training programs keep every core busy, an answer takes long without using much.
TEST(PlannerRest, CountsTheTimeSpentWaitingForTheProcessor) {
  EXPECT_DOUBLE_EQ(planner_rest(1.0, 3.0), 2.0);
  EXPECT_DOUBLE_EQ(planner_rest(1.0, 60.0), 0.0);
}

}  // namespace
}  // namespace bapi
