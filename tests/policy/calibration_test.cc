#include "bapi/policy/calibration.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "bapi/base/rng.h"
#include "bapi/cost/cost_model.h"
#include "bapi/math/normal.h"
#include "bapi/policy/registry.h"
#include "bapi/study/progress.h"
#include "bapi/tables/simulate.h"
#include "tests/support/tables.h"

namespace bapi {
namespace {

// What is told and stored is what the score was computed from.
TEST(Forecast, ReproducesTheScoreOfItsDecision) {
  for (const Goal goal : {Goal::maximize, Goal::minimize}) {
    CurveTable table = test::small_table(40, 20);
    table.metric.goal = goal;
    if (goal == Goal::minimize) {
      for (CurveTable::Run& run : table.runs) {
        for (double& value : run.value) value = -value;
      }
    }
    for (const char* name : {"bapi", "freeze-thaw", "dyhpo", "ei"}) {
      const PolicySpec policy{.name = name};
      int scored = 0;
      for (const StoredEvent& stored : simulate(table, policy, *make_policy(policy), {.budget = 400.0}).events) {
        const Reason* why = reason_of(stored.event);
        if (!why || !why->forecast) continue;
        ++scored;
        const ScoreBasis& basis = *why->forecast->basis;
        double expected = 0.0;
        if (why->score->unit == ScoreUnit::probability) {
          expected = log_normal_cdf((basis.mean - basis.target) / basis.sd);
        } else {
          expected = log_expected_improvement(basis);
          if (why->price) expected -= std::log(why->price->cost);
        }
        EXPECT_NEAR(why->score->log, expected, 1e-9 * std::max(1.0, std::abs(expected))) << name;
      }
      EXPECT_GT(scored, 3) << name;
    }
  }
}

TEST(Forecast, ErrorsOfEarlierVersionsCountInTheScaleInWhichTheirForecastsWereNormal) {
  const Forecast plain{.epoch = 1, .mean = 0.5, .shown_sd = 0.1, .incumbent = 0.6, .target = 0.6};
  EXPECT_NEAR(forecast_error(plain, 0.7, Goal::maximize).z, 2.0, 1e-12);
  EXPECT_NEAR(forecast_error(plain, 0.7, Goal::minimize).z, -2.0, 1e-12);
  Forecast below = plain;
  below.gap = 0.05;
  // Far below the incumbent a step counts less than near it.
  EXPECT_LT(std::abs(forecast_error(below, 0.4, Goal::maximize).z), 1.0);
  EXPECT_GT(forecast_error(below, 0.6, Goal::maximize).z, 1.0);
}

// Values of a normal with mean 0.5 and deviation 0.1.
Forecast normal_forecast() {
  Forecast forecast{.epoch = 1, .mean = 0.5, .shown_sd = 0.1};
  for (const double share : kForecastShares) forecast.quantiles.push_back(0.5 + 0.1 * normal_quantile(share));
  return forecast;
}

TEST(Forecast, ErrorsAreShownByTheQuantilesInEitherDirection) {
  for (const double z : {-4.0, -1.5, 0.0, 0.3, 2.5}) {
    EXPECT_NEAR(forecast_error(normal_forecast(), 0.5 + 0.1 * z, Goal::maximize).z, z, 0.02);
    EXPECT_NEAR(forecast_error(normal_forecast(), 0.5 - 0.1 * z, Goal::minimize).z, z, 0.02);
  }
}

TEST(Forecast, ATrialThatGotNoBetterCountsByItsChanceTo) {
  Forecast forecast = normal_forecast();
  forecast.reached = 0.5;  // a half of the law is cut off there
  forecast.stays = 0.5;
  for (double& quantile : forecast.quantiles) quantile = std::max(quantile, 0.5);
  const ForecastError stayed = forecast_error(forecast, 0.5, Goal::maximize);
  EXPECT_EQ(stayed.stays, 0.5);
  EXPECT_NEAR(stayed.within(0.5), 0.5, 1e-12);  // of the lower half, what lies above a quarter
  EXPECT_NEAR(stayed.within(0.8), 0.8, 1e-12);
  EXPECT_NEAR(stayed.within(0.95), 0.95, 1e-12);
  EXPECT_GE(forecast_error(forecast, 0.501, Goal::maximize).z, 0.0);
}

TEST(Forecast, ResultsThatFollowItsLawLieWithinItsBandsAsOftenAsTheyShould) {
  Rng rng(8);
  Forecast forecast = normal_forecast();
  forecast.reached = 0.47;
  forecast.stays = normal_cdf(-0.3);
  for (double& quantile : forecast.quantiles) quantile = std::max(quantile, 0.47);
  for (const double probability : {0.5, 0.8, 0.95}) {
    double within = 0.0;
    constexpr int kResults = 4000;
    for (int k = 0; k < kResults; ++k) {
      const double value = std::max(0.47, 0.5 + 0.1 * rng.normal());
      within += forecast_error(forecast, value, Goal::maximize).within(probability) / kResults;
    }
    EXPECT_NEAR(within, probability, 0.03);
  }
}

TEST(Calibration, CountsShareOfOutcomesWithinTheirBands) {
  StudySpec spec = study_of(test::small_table(8, 4), 100.0, {.name = "bapi"}, 1, 1);
  std::vector<StoredEvent> events;
  const auto add = [&](Event event) { events.push_back({std::ssize(events) + 1, 0.0, std::move(event)}); };
  // Four trials, predicted 0.5 +- 0.1 at epoch 1, that reach 0.5, 0.56, 0.62 and 0.9.
  const std::vector<double> reached = {0.5, 0.56, 0.62, 0.9};
  for (int i = 0; i < 4; ++i) {
    add(TrialStarted{
        .trial = TrialId{i},
        .config = spec.pool[static_cast<std::size_t>(i)],
        .until = 1,
        .expected_cost = 1.0,
        .why = {.forecast = Forecast{.epoch = 1, .mean = 0.5, .shown_sd = 0.1}, .price = Price{.log_sd = 0.5}}});
    add(Measured{TrialId{i}, {1, reached[static_cast<std::size_t>(i)], i < 2 ? 1.0 : 4.0}});
    add(SegmentDone{TrialId{i}});
  }
  const Calibration result = calibration(replay(spec, events), events);
  EXPECT_EQ(result.value.count, 4);
  EXPECT_EQ(result.value.within_50, 0.5);   // 0 and 0.6 standard deviations
  EXPECT_EQ(result.value.within_80, 0.75);  // and 1.2
  EXPECT_EQ(result.value.within_95, 0.75);  // 4 is outside
  EXPECT_EQ(result.cost.count, 4);
  EXPECT_EQ(result.cost.within_95, 0.5);  // log 4 is 2.8 standard deviations of 0.5
}

TEST(Calibration, CostsCountByTheLawOfTheirErrors) {
  StudySpec spec = study_of(test::small_table(8, 4), 100.0, {.name = "bapi"}, 1, 1);
  std::vector<StoredEvent> events;
  const auto add = [&](Event event) { events.push_back({std::ssize(events) + 1, 0.0, std::move(event)}); };
  constexpr double kDeviation = 0.5;
  const auto expected = [&](double z, Epoch done) { return std::exp(-kDeviation * log_cost_errors(done).error(z)); };
  add(TrialStarted{.trial = TrialId{0},
                   .config = spec.pool[0],
                   .until = 1,
                   .expected_cost = expected(1.5, 0),
                   .why = {.price = Price{.log_sd = kDeviation}}});
  add(Measured{TrialId{0}, {1, 0.5, 1.0}});
  add(SegmentDone{TrialId{0}});
  add(TrialResumed{.trial = TrialId{0},
                   .until = 2,
                   .expected_cost = expected(-2.5, 1),
                   .why = {.price = Price{.log_sd = kDeviation}}});
  add(Measured{TrialId{0}, {2, 0.5, 1.0}});
  add(SegmentDone{TrialId{0}});
  const std::vector<ForecastOutcome> outcomes = forecast_outcomes(replay(spec, events), events);
  ASSERT_EQ(outcomes.size(), 2);
  EXPECT_NEAR(*outcomes[0].cost_error, 1.5, 1e-9);
  EXPECT_NEAR(*outcomes[1].cost_error, -2.5, 1e-9);
}

TEST(Calibration, CountsRunsThatWereGivenUpWhereTheirCurvesAreKnown) {
  StudySpec spec = study_of(test::small_table(8, 4), 100.0, {.name = "bapi"}, 1, 1);
  std::vector<StoredEvent> events;
  const auto add = [&](Event event) { events.push_back({std::ssize(events) + 1, 0.0, std::move(event)}); };
  for (int i = 0; i < 3; ++i) {
    add(TrialStarted{.trial = TrialId{i},
                     .config = spec.pool[static_cast<std::size_t>(i)],
                     .until = 1,
                     .why = {.forecast = Forecast{.epoch = 3, .mean = 0.5, .shown_sd = 0.1}}});
    add(Measured{TrialId{i}, {1, 0.1, 1.0}});
    add(SegmentDone{TrialId{i}});
  }
  EXPECT_EQ(calibration(replay(spec, events), events).value.count, 0);
  // The first comes out as predicted, the second far above, the third crashes before its epoch.
  const auto curve_of = [&](const Config& config) -> std::vector<double> {
    if (config == spec.pool[0]) return {0.1, 0.5, 0.4, 0.9};
    if (config == spec.pool[1]) return {0.1, 0.5, 0.9, 0.9};
    return {0.1, std::numeric_limits<double>::quiet_NaN()};
  };
  const Coverage coverage = calibration(replay(spec, events), events, curve_of).value;
  EXPECT_EQ(coverage.count, 2);
  EXPECT_EQ(coverage.within_50, 0.5);
  EXPECT_EQ(coverage.within_95, 0.5);
}

}  // namespace
}  // namespace bapi
