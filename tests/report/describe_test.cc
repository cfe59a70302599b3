#include "bapi/report/describe.h"

#include <gtest/gtest.h>

#include "tests/report/sample_study.h"

namespace bapi {
namespace {

TEST(Describe, DecisionsSayHowFarAndWhy) {
  const TrialStarted start{
      .trial = TrialId{3},
      .config = sample_config(0.1, 32),
      .until = 9,
      .why = {.rule = Rule::new_in_bracket, .standing = RungStanding{.bracket = 1, .rung = 0, .places = 9}}};
  EXPECT_EQ(describe(start, sample_spec()), "start, to epoch 9 · new in its bracket (bracket 1, rung 0, 9 places)");
  EXPECT_EQ(describe(TrialStopped{.trial = TrialId{3}, .why = in_own_words("hopeless")}, sample_spec()),
            "stop · hopeless");
}

TEST(Describe, FormsEndWithTheDecisionAlone) {
  const TrialResumed resume{.trial = TrialId{3}, .until = 20, .why = {.rule = Rule::uniform_draw}};
  EXPECT_EQ(
      description_forms(resume, sample_spec(), Wording::full),
      (std::vector<std::string>{
          "resume, to epoch 20 · uniform random draw", "resume, to epoch 20 · random draw", "resume, to epoch 20"}));
  EXPECT_EQ(
      description_forms(resume, sample_spec(), Wording::brief),
      (std::vector<std::string>{"resume to 20 · uniform random draw", "resume to 20 · random draw", "resume to 20"}));
  EXPECT_EQ(description_forms(StudyFinished{.reason = "done"}, sample_spec(), Wording::brief),
            std::vector<std::string>{"finished: done"});
}

TEST(Describe, ReportsNameTheMetricAndTheCost) {
  EXPECT_EQ(describe(measured(0, 3, 0.91, 1.25), sample_spec()), "epoch 3: accuracy 0.91, 1.2 s");
}

TEST(TrialOf, StudyEventsBelongToNoTrial) {
  EXPECT_EQ(trial_of(measured(4, 1, 0.0, 0.0)), TrialId{4});
  EXPECT_FALSE(trial_of(StudyFinished{.reason = "done"}));
  EXPECT_FALSE(trial_of(BudgetChanged{.total = 1.0}));
}

}  // namespace
}  // namespace bapi
