#include "bapi/studies/what_if.h"

#include <gtest/gtest.h>

#include "bapi/base/error.h"
#include "bapi/studies/forecast.h"
#include "bapi/studies/plan.h"
#include "bapi/study/progress.h"
#include "tests/report/sample_study.h"

namespace bapi {
namespace {

// Twelve trials of nine epochs that differ by their learning rate, in a budget of which a part is left.
StudyView some_study() {
  StudySpec spec = sample_spec();
  spec.budget = {.limit = 200.0, .unit = "epochs", .meter = Meter::epochs};
  SampleLog log;
  for (int i = 0; i < 12; ++i) {
    const double lr = 1e-4 * std::pow(2.0, i);
    log.add(TrialStarted{.trial = TrialId{i}, .config = sample_config(lr, 16 + 20 * i), .until = i % 2 == 0 ? 9 : 4});
    for (Epoch epoch = 1; epoch <= (i % 2 == 0 ? 9 : 4); ++epoch) {
      log.add(measured(i, epoch, (1.0 - std::pow(0.7, epoch)) * (1.0 - 0.02 * (i - 6) * (i - 6)), 1.0));
    }
    log.add(SegmentDone{.trial = TrialId{i}});
  }
  return {{.dir = StudyDir("."), .history = replay(spec, log.events())}, log.events()};
}

TEST(WhatIf, BeginsWithWhatIsNeverGetsWorseAndEndsAtTheTotal) {
  const StudyView study = some_study();
  const WhatIf outlook = what_if(study, "+100 epochs");
  EXPECT_EQ(outlook.total, 300.0);
  ASSERT_GE(outlook.rows.size(), 2u);
  EXPECT_EQ(outlook.rows.front().runs, 0);
  EXPECT_EQ(outlook.rows.front().budget, study.history.budget().spent());
  EXPECT_EQ(outlook.rows.back().budget, 300.0);
  for (std::size_t i = 1; i < outlook.rows.size(); ++i) {
    EXPECT_GE(outlook.rows[i].best.mean, outlook.rows[i - 1].best.mean - 1e-9);
    EXPECT_GE(outlook.rows[i].budget, outlook.rows[i - 1].budget);
  }
  EXPECT_EQ(what_if_table(outlook).rows().size(), outlook.rows.size());
  EXPECT_NE(plot_what_if(study, outlook).find("what more budget would bring"), std::string::npos);
}

TEST(WhatIf, RefusesAnotherUnitAndWhatIsSpent) {
  EXPECT_THROW(what_if(some_study(), "1h"), InvalidInput);
  EXPECT_THROW(what_if(some_study(), "10 epochs"), InvalidInput);
}

TEST(Forecast, OfAllHasThoseThatCanGrowAndOfOneEveryEpoch) {
  const StudyView study = some_study();
  const std::vector<CurveForecast> all = forecast(study, std::nullopt);
  EXPECT_EQ(all.size(), 6u);
  EXPECT_EQ(forecast_table(study, all).rows().size(), 6u);
  const std::vector<CurveForecast> one = forecast(study, 0);
  EXPECT_EQ(course_table(study, one.front()).rows().size(), 9u);
  EXPECT_THROW(forecast(study, 12), InvalidInput);
}

TEST(Plan, KeepsTheBudgetAndRefusesAHorizonOutOfRange) {
  const StudyView study = some_study();
  const PlanSummary summary = plan(study, 2);
  EXPECT_LE(summary.runs.size(), 2u);
  EXPECT_GE(summary.left, 0.0);
  EXPECT_THROW(plan(study, 0), InvalidInput);
  EXPECT_THROW(plan(study, 17), InvalidInput);
}

}  // namespace
}  // namespace bapi
