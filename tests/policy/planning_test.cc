#include "bapi/policy/planning.h"

#include <gtest/gtest.h>

#include "tests/policy/line_study.h"

namespace bapi {
namespace planning_test {

using namespace test;

TEST(Planning, ChargesFurtherEpochsAloneWhereCheckpointsAreKept) {
  StudySpec spec = four_rows();
  const Fitted kept(paused_trials(spec, {0.0, 0.3, 0.6}));
  spec.checkpoint = Checkpoint::none;
  const Fitted lost(paused_trials(spec, {0.0, 0.3, 0.6}));
  const auto to_the_end = [](const Fitted& f) {
    return Planning(f.evidence, f.models, {}).cost_to(paused_candidates(f.evidence)[0].at(), 9);
  };
  EXPECT_NEAR(to_the_end(kept), 6 * 2.0, 0.1);
  EXPECT_NEAR(to_the_end(lost), 9 * 2.0, 0.1);
}

TEST(Planning, StopsNoCurveBeforeWhereItIs) {
  const Fitted f(paused_trials(four_rows(), {0.0, 0.3, 0.6}));
  const Planning planning(f.evidence, f.models, {});
  for (const Candidate& candidate : planning.candidates()) {
    const Epoch stop = planning.stop_of(candidate.at());
    EXPECT_GE(stop, candidate.done);
    EXPECT_LE(stop, 9);
  }
}

TEST(Planning, StaysWithinItsBudget) {
  const Fitted f(paused_trials(four_rows(), {0.0, 0.3, 0.6}));
  const Planning planning(f.evidence, f.models, {});
  for (const Cost budget : {5.0, 20.0, 60.0}) {
    Rng rng(3);
    Cost planned = 0.0;
    for (const PlannedRun& run : planning.plan(planning.candidates(), budget, rng).runs) planned += run.cost;
    EXPECT_GT(planned, 0.0);
    EXPECT_LE(planned, budget);
  }
}

}  // namespace planning_test
}  // namespace bapi
