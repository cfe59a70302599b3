#include "bapi/policy/forecast_plan.h"

#include <gtest/gtest.h>

#include <cmath>

#include "bapi/policy/insight.h"
#include "bapi/policy/registry.h"
#include "bapi/study/direction.h"
#include "bapi/study/metric_bounds.h"
#include "bapi/tables/simulate.h"
#include "tests/support/random_studies.h"

namespace bapi {
namespace forecast_plan_test {

constexpr double kRounding = 1e-9;

// A study of any kind as it stood when its budget was spent; as losses or as accuracies.
struct AnyStudy {
  CurveTable table;
  History history;

  static CurveTable table_for(Rng& rng) {
    CurveTable table = test::random_table(rng);
    if (test::coin(rng)) {
      table.metric = {.name = "loss", .goal = Goal::minimize};
      for (CurveTable::Run& run : table.runs) {
        for (double& value : run.value) value = std::exp(3.0 * (0.5 - value));
      }
    }
    return test::coin(rng) ? table : test::opened(std::move(table));
  }

  explicit AnyStudy(Rng& rng, const PolicySpec& policy = {.name = "bapi"})
      : table(table_for(rng)), history(study_of(table, 1.0, policy, 1, 1)) {
    const Cost budget = (0.3 + 3.0 * rng.uniform()) * table.mean_full_cost();
    const SimulationSummary summary = simulate(table, policy, *make_policy(policy), {.budget = budget, .seed = 3});
    history = *summary.history;
  }
};

// In the direction of the goal, so that more is better.
struct Band {
  double low, mean, high;
};
Band upward(const Prediction& p, Goal goal) {
  return goal == Goal::maximize ? Band{p.low, p.mean, p.high} : Band{-p.high, -p.mean, -p.low};
}

void expect_no_worse(const Band& later, const Band& earlier) {
  EXPECT_GE(later.low, earlier.low - kRounding);
  EXPECT_GE(later.mean, earlier.mean - kRounding);
  EXPECT_GE(later.high, earlier.high - kRounding);
}

void expect_inside(const Band& band) {
  EXPECT_LE(band.low, band.mean + kRounding);
  EXPECT_GE(band.high, band.mean - kRounding);
}

TEST(ForecastLaws, NoCurveIsForecastBelowItsValueToFallOrOutOfBounds) {
  Rng rng(11);
  int forecasts = 0;
  for (int round = 0; round < 25; ++round) {
    const AnyStudy study(rng);
    if (!study.history.incumbent()) continue;
    const Goal goal = study.history.spec().metric.goal;
    std::vector<double> seen;
    for (const Trial& trial : study.history.trials()) {
      for (const Measurement& m : trial.curve.points()) seen.push_back(oriented(m.value, goal));
    }
    const MetricBounds bounds = bounds_of(study.history.spec().metric, seen);
    const Insight insight(study.history, BapiOptions{});
    for (const Trial& trial : study.history.trials()) {
      if (trial.curve.empty()) continue;
      ++forecasts;
      const CurveForecast forecast = insight.forecast(trial);
      ASSERT_EQ(std::ssize(forecast.curve), study.history.spec().epochs.max);
      for (std::size_t t = 0; t < forecast.curve.size(); ++t) {
        const Band band = upward(forecast.curve[t], goal);
        expect_inside(band);
        if (t > 0) expect_no_worse(band, upward(forecast.curve[t - 1], goal));
        if (static_cast<Epoch>(t) >= forecast.done) {
          EXPECT_GE(band.low, trial.curve.best() - kRounding);
        }
        EXPECT_GE(forecast.curve[t].low, bounds.low - kRounding);
        EXPECT_LE(forecast.curve[t].high, bounds.high + kRounding);
      }
      EXPECT_GE(forecast.chance_of_best, 0.0);
      EXPECT_LE(forecast.chance_of_best, 1.0);
    }
  }
  EXPECT_GT(forecasts, 50);
}

TEST(ForecastLaws, PlansSayWhatForecastsSay) {
  Rng rng(12);
  int resumed = 0;
  for (int round = 0; round < 25; ++round) {
    const PolicySpec policy{.name = round % 3 == 0 ? "bapi-4" : "bapi"};
    const AnyStudy study(rng, policy);
    if (!study.history.incumbent()) continue;
    const Insight insight(study.history, bapi_options(policy));
    const PlanSummary plan = insight.plan(2.0 * study.table.mean_full_cost(), 6);
    for (const PlannedTraining& run : plan.runs) {
      if (!run.trial) continue;
      ++resumed;
      const CurveForecast forecast = insight.forecast(study.history.trial(*run.trial));
      const Prediction& same = forecast.curve[static_cast<std::size_t>(run.until) - 1];
      EXPECT_NEAR(run.value.mean, same.mean, kRounding);
      EXPECT_NEAR(run.value.low, same.low, kRounding);
      EXPECT_NEAR(run.value.high, same.high, kRounding);
      EXPECT_GE(forecast.chance_of_best, 0.0);
    }
    if (plan.runs.empty()) continue;
    // The outlook after the first training is the best so far and what that one is expected to add.
    const Goal goal = study.history.spec().metric.goal;
    const double now = upward(plan.outlook[0].best, goal).mean;
    const double then = upward(plan.outlook[1].best, goal).mean;
    EXPECT_NEAR(then - now, plan.runs[0].improvement, kRounding);
  }
  EXPECT_GT(resumed, 3);
}

TEST(ForecastLaws, MoreBudgetNeverPromisesLessAndThePromiseLiesInItsBand) {
  Rng rng(13);
  int promises = 0;
  for (int round = 0; round < 6; ++round) {
    const AnyStudy study(rng);
    if (!study.history.incumbent()) continue;
    const Goal goal = study.history.spec().metric.goal;
    const Insight insight(study.history, BapiOptions{});
    std::optional<Band> before;
    for (const double full : {0.05, 0.3, 1.0, 1.1, 2.5, 6.0}) {
      const PlanSummary plan = insight.plan(full * study.table.mean_full_cost(), 16);
      for (std::size_t i = 0; i < plan.outlook.size(); ++i) {
        const Band band = upward(plan.outlook[i].best, goal);
        expect_inside(band);
        if (i > 0) expect_no_worse(band, upward(plan.outlook[i - 1].best, goal));
      }
      const Band band = upward(plan.outlook.back().best, goal);
      if (before) expect_no_worse(band, *before);
      before = band;
      promises += plan.runs.empty() ? 0 : 1;
    }
  }
  EXPECT_GT(promises, 8);
}

TEST(JointResults, HaveTheLawsOfTheirForecasts) {
  Rng rng(14);
  const AnyStudy study(rng);
  ASSERT_TRUE(study.history.incumbent().has_value());
  const Insight insight(study.history, BapiOptions{});
  std::vector<PlannedForecast> runs;
  const Models& models = insight.models();
  for (const Trial& trial : study.history.trials()) {
    if (trial.curve.empty() || trial.curve.last_epoch() >= models.max_epoch) continue;
    const CurveAt at = Evidence(study.history).at(trial);
    runs.push_back({.at = at, .until = models.max_epoch, .law = models.law_from(at, models.max_epoch)});
  }
  ASSERT_FALSE(runs.empty());
  const Matrix results = joint_results(models, runs, rng.fork("results"));
  for (std::size_t i = 0; i < runs.size(); ++i) {
    Vector column = results.col(static_cast<Eigen::Index>(i));
    std::sort(column.begin(), column.end());
    for (const double share : {0.1, 0.5, 0.9}) {
      const auto at = static_cast<Eigen::Index>(share * kFutures);
      EXPECT_NEAR(column[at], runs[i].law.quantile(0, (static_cast<double>(at) + 0.5) / kFutures), kRounding);
    }
  }
  const std::vector<PlannedForecast> first = {runs.front()};
  EXPECT_EQ(joint_results(models, first, rng.fork("results")).col(0), results.col(0)) << "what follows changes nothing";
}

}  // namespace forecast_plan_test
}  // namespace bapi
