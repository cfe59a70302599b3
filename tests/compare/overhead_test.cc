#include "bapi/compare/overhead.h"

#include <gtest/gtest.h>

#include "bapi/base/error.h"

namespace bapi {
namespace {

// Ten decisions at each number of trials.
std::vector<DecisionTimes> times_of(const OverheadModel& model) {
  std::vector<DecisionTimes> times;
  for (const double trials : {0.0, 1.0, 2.0, 5.0, 11.0, 40.0, 90.0}) {
    times.push_back({.trials = trials, .decisions = 10, .seconds = 10.0 * model.seconds(trials)});
  }
  return times;
}

TEST(DecisionTimes, KeepEveryDecisionAndSecond) {
  std::vector<TimedDecision> decisions;
  double trials = 0.0;
  double seconds = 0.0;
  for (int n = 0; n < 300; ++n) {
    decisions.push_back({.trials = n, .seconds = 0.001 * (n % 7)});
    trials += n;
    seconds += decisions.back().seconds;
  }
  int count = 0;
  for (const DecisionTimes& group : decision_times(decisions)) {
    count += group.decisions;
    trials -= group.decisions * group.trials;
    seconds -= group.seconds;
  }
  EXPECT_EQ(count, 300);
  EXPECT_NEAR(trials, 0.0, 1e-6);
  EXPECT_NEAR(seconds, 0.0, 1e-9);
}

TEST(DecisionTimes, AreTwoGroupsForEachDoubling) {
  std::vector<TimedDecision> decisions;
  for (int n = 0; n < 1024; ++n) decisions.push_back({.trials = n, .seconds = 1.0});
  const std::vector<DecisionTimes> times = decision_times(decisions);
  EXPECT_EQ(times[0].trials, 0.0);
  EXPECT_LE(times.size(), 2u + 2 * 10);
  for (std::size_t i = 1; i < times.size(); ++i) EXPECT_GT(times[i].trials, times[i - 1].trials);
}

TEST(FitOverhead, FindsTheLawThatTimesFollow) {
  for (const OverheadModel& law : {OverheadModel{.fixed = 0.002, .scale = 3e-5, .power = 1.5},
                                   OverheadModel{.fixed = 0.0, .scale = 1e-6, .power = 3.0},
                                   OverheadModel{.fixed = 0.5, .scale = 0.25, .power = 0.25}}) {
    const OverheadModel found = fit_overhead(times_of(law));
    EXPECT_EQ(found.power, law.power);
    EXPECT_NEAR(found.fixed, law.fixed, 1e-9);
    EXPECT_NEAR(found.scale, law.scale, 1e-9);
  }
}

TEST(FitOverhead, NeverChargesLessThanNothing) {
  // Falling times: a constant; times that start below zero on any line: a line through the origin.
  const std::vector<DecisionTimes> falling{{.trials = 1.0, .decisions = 1, .seconds = 3.0},
                                           {.trials = 9.0, .decisions = 3, .seconds = 3.0}};
  const OverheadModel constant = fit_overhead(falling);
  EXPECT_EQ(constant.scale, 0.0);
  EXPECT_DOUBLE_EQ(constant.seconds(100.0), 1.5);
  const std::vector<DecisionTimes> steep{{.trials = 10.0, .decisions = 1, .seconds = 0.0},
                                         {.trials = 11.0, .decisions = 1, .seconds = 1.0}};
  const OverheadModel model = fit_overhead(steep);
  EXPECT_GE(model.fixed, 0.0);
  EXPECT_GT(model.scale, 0.0);
  EXPECT_GE(model.seconds(0.0), 0.0);
}

TEST(FitOverhead, HasNoMoreDigitsThanItShows) {
  const std::vector<DecisionTimes> times{{.trials = 1.0, .decisions = 3, .seconds = 1.0}};
  EXPECT_DOUBLE_EQ(fit_overhead(times).fixed, 0.333);
}

TEST(FitOverhead, NeedsDecisions) { EXPECT_THROW(fit_overhead({}), InvalidInput); }

TEST(FitOverhead, ReadsAsAFormula) {
  EXPECT_EQ(to_text(OverheadModel{.fixed = 0.0012, .scale = 3.1e-6, .power = 1.75}), "0.0012 + 3.1e-06 n^1.75 s");
}

}  // namespace
}  // namespace bapi
