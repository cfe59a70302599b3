#include "bapi/policy/insight.h"

#include <gtest/gtest.h>

#include <cmath>

#include "bapi/base/error.h"
#include "bapi/policy/fresh.h"
#include "bapi/policy/registry.h"
#include "bapi/tables/simulate.h"
#include "tests/support/tables.h"

namespace bapi {
namespace {

// A study that bapi ran on a small table, as it stood when its budget was spent.
struct Played {
  CurveTable table = test::small_table(40, 16);
  PolicySpec policy{.name = "bapi"};
  SimulationSummary summary;
  History history;

  explicit Played(Cost budget)
      : summary(simulate(table, policy, *make_policy(policy), {.budget = budget, .seed = 2})),
        history(study_of(table, budget, policy, 2, 1)) {
    for (const StoredEvent& stored : summary.events) history.apply(stored.event);
  }
};

TEST(Insight, NeedsAReport) {
  const Played played(50.0);
  EXPECT_THROW(Insight(History(played.history.spec()), BapiOptions{}), InvalidInput);
}

TEST(Insight, NeedsAValueNotOnlyFailures) {
  const Played played(50.0);
  History history(played.history.spec());
  history.apply(TrialStarted{.trial = TrialId{0}, .config = played.table.configs[0], .until = 1});
  history.apply(TrialFailed{.trial = TrialId{0}, .message = "crashed"});
  EXPECT_THROW(Insight(history, BapiOptions{}), InvalidInput);
}

TEST(Insight, APlanHasDifferentConfigurationsThatAreUntriedWhereTheyAreNew) {
  for (const std::int64_t width : {5, 60}) {  // a space that is listed, and one that is searched
    StudySpec spec{.name = "discrete"};
    spec.budget = {.limit = 1000.0, .meter = Meter::epochs};
    spec.epochs = {.min = 1, .max = 8};
    spec.space = Space({{.name = "a", .domain = IntRange{.low = 1, .high = width}},
                        {.name = "b", .domain = IntRange{.low = 1, .high = width}}});
    History history(spec);
    Rng rng(3);
    for (int i = 0; i < 10; ++i) {
      const Config config = spec.space.sample(rng);
      const Vector x = spec.space.encode(config);
      const Epoch until = i % 2 == 0 ? 8 : 3;
      history.apply(TrialStarted{.trial = TrialId{i}, .config = config, .until = until});
      for (Epoch t = 1; t <= until; ++t) {
        history.apply(Measured{TrialId{i}, {t, 1.0 - (x.array() - 0.5).square().sum() - 0.5 / t, 1.0}});
      }
      history.apply(SegmentDone{TrialId{i}});
    }
    const PlanSummary plan = Insight(history, BapiOptions{}).plan(1000.0, 12);
    EXPECT_GT(plan.runs.size(), 4U);
    for (std::size_t i = 0; i < plan.runs.size(); ++i) {
      if (!plan.runs[i].trial) {
        EXPECT_FALSE(is_tried(history, plan.runs[i].config));
      }
      for (std::size_t j = 0; j < i; ++j) EXPECT_NE(plan.runs[i].config, plan.runs[j].config);
    }
  }
}

TEST(Insight, ForecastsGoThroughWhatWasMeasuredAndDoNotFall) {
  const Played played(150.0);
  const Insight insight(played.history, BapiOptions{});
  for (const Trial& trial : played.history.trials()) {
    if (trial.curve.last_epoch() < 4) continue;
    const CurveForecast forecast = insight.forecast(trial);
    const std::size_t last = static_cast<std::size_t>(trial.curve.last_epoch()) - 1;
    EXPECT_NEAR(forecast.curve[last].mean, trial.curve.best(), 0.05);
    EXPECT_GE(forecast.curve.back().mean, forecast.curve[last].mean - 0.01);
    EXPECT_LE(forecast.curve.back().low, forecast.curve.back().mean);
    EXPECT_GE(forecast.curve.back().high, forecast.curve.back().mean);
    EXPECT_GE(forecast.stop, trial.curve.last_epoch());
  }
}

TEST(Insight, PlanStaysWithinItsBudgetAndShrinksWithIt) {
  const Played played(60.0);
  const Insight insight(played.history, BapiOptions{});
  std::size_t before = 100;
  for (const Cost budget : {300.0, 60.0, 10.0, 0.01}) {
    const PlanSummary plan = insight.plan(budget, 8);
    Cost cost = 0.0;
    for (const PlannedTraining& run : plan.runs) cost += run.cost;
    EXPECT_LE(cost, budget * (1.0 + 1e-9));
    EXPECT_NEAR(plan.left, budget - cost, 1e-9);
    EXPECT_LE(plan.runs.size(), before);
    before = plan.runs.size();
  }
  EXPECT_EQ(before, 0U);
}

TEST(Insight, OutlookStartsAtTheIncumbentAndNeverFalls) {
  const Played played(60.0);
  const PlanSummary plan = Insight(played.history, BapiOptions{}).plan(300.0, 6);
  const double best = played.history.trial(*played.history.incumbent()).curve.best();
  EXPECT_NEAR(plan.outlook.front().best.mean, best, 1e-9);
  for (std::size_t i = 1; i < plan.outlook.size(); ++i) {
    EXPECT_GE(plan.outlook[i].best.mean, plan.outlook[i - 1].best.mean - 0.01);  // 1,024 weighted draws
    EXPECT_GT(plan.outlook[i].cost, plan.outlook[i - 1].cost);
  }
}

}  // namespace
}  // namespace bapi
