#include "bapi/tables/warm_start.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "bapi/base/error.h"
#include "bapi/policy/registry.h"
#include "bapi/tables/simulate.h"
#include "bapi/tables/synthetic.h"
#include "tests/support/tables.h"

namespace bapi {
namespace warm_start_test {

StudySpec study_on(const CurveTable& table, Epoch epochs) {
  StudySpec spec = study_of(table, 100.0, {}, 0, 1);
  spec.epochs.max = epochs;
  spec.pool.clear();
  return spec;
}

TEST(EarlierStudyOfATable, HasTheBestFirstAndTheBestSoFarAtHalvedEpochs) {
  CurveTable table = test::small_table(11, 9);
  table.runs[3].value = {0.1, 0.3, 0.2, 0.4};
  table.runs[3].cost.resize(4);
  const EarlierStudy earlier = earlier_study(table, study_on(table, 9));
  ASSERT_EQ(earlier.trials.size(), 11U);
  EXPECT_EQ(earlier.trials[0].config, (Config{{0.7}}));
  EXPECT_EQ(earlier.trials[0].epochs, (std::vector<Epoch>{1, 2, 4, 9}));
  EXPECT_FALSE(earlier.trials[0].ended);
  const auto short_one = std::find_if(earlier.trials.begin(), earlier.trials.end(), [&](const EarlierTrial& trial) {
    return trial.config == table.configs[3];
  });
  EXPECT_EQ(short_one->epochs, (std::vector<Epoch>{1, 2, 4}));
  EXPECT_EQ(short_one->values, (std::vector<double>{0.1, 0.3, 0.4}));
  EXPECT_TRUE(short_one->ended);
}

TEST(EarlierStudyOfATable, EpochsBeyondTheNewMaximumDoNotCountAndFewerLeaveCurvesOpen) {
  const CurveTable table = test::small_table(5, 9);
  for (const EarlierTrial& trial : earlier_study(table, study_on(table, 4)).trials) {
    EXPECT_EQ(trial.epochs.back(), 4);
  }
  for (const EarlierTrial& trial : earlier_study(table, study_on(table, 30)).trials) {
    EXPECT_EQ(trial.epochs.back(), 9);
    EXPECT_FALSE(trial.ended);
  }
}

TEST(EarlierStudyOfATable, ValuesAreToBeMaximisedAndFailuresCountAsFarAsTheyGot) {
  CurveTable table = test::small_table(5, 4);
  table.metric.goal = Goal::minimize;
  for (CurveTable::Run& run : table.runs) {
    for (double& value : run.value) value = -value;
  }
  table.runs[0].value[2] = std::numeric_limits<double>::quiet_NaN();
  table.runs[1].value[0] = std::numeric_limits<double>::quiet_NaN();
  const EarlierStudy earlier = earlier_study(table, study_on(table, 4));
  ASSERT_EQ(earlier.trials.size(), 4U);
  EXPECT_EQ(earlier.trials[0].config, (Config{{0.75}}));
  for (const EarlierTrial& trial : earlier.trials) {
    if (trial.config == Config{{0.0}}) {
      EXPECT_EQ(trial.epochs.back(), 2);
    }
  }
}

TEST(EarlierStudyOfATable, OfALargeOneTheBestAndSomeOfTheOthersAreKept) {
  const CurveTable table = test::small_table(1000, 9);
  const EarlierStudy earlier = earlier_study(table, study_on(table, 9));
  ASSERT_EQ(earlier.trials.size(), 100U);
  EXPECT_NEAR(std::get<double>(earlier.trials[0].config.values[0]), 0.7, 1e-3);
  EXPECT_NEAR(std::get<double>(earlier.trials.back().config.values[0]), 0.0, 1e-9);
}

TEST(EarlierStudyOfATable, IsRefusedIfThereIsNothingToLearn) {
  const CurveTable table = test::small_table(5, 9);
  StudySpec elsewhere = study_on(table, 9);
  elsewhere.space = Space({{.name = "y", .domain = RealRange{}}});
  EXPECT_THROW(earlier_study(table, elsewhere), InvalidInput);
  StudySpec outside = study_on(table, 9);
  outside.space = Space({{.name = "x", .domain = RealRange{.low = 2.0, .high = 3.0}}});
  EXPECT_THROW(earlier_study(table, outside), InvalidInput);
  CurveTable empty = table;
  for (CurveTable::Run& run : empty.runs) run.value.assign(9, std::numeric_limits<double>::quiet_NaN());
  EXPECT_THROW(earlier_study(empty, study_on(table, 9)), InvalidInput);
}

TEST(EarlierStudyOfATable, CountsWhatItLeavesOut) {
  const CurveTable table = test::small_table(11, 9);
  StudySpec narrow = study_on(table, 9);
  narrow.space = Space({{.name = "x", .domain = RealRange{.low = 0.35, .high = 1.0}}});
  const EarlierStudy earlier = earlier_study(table, narrow);
  EXPECT_EQ(earlier.trials.size(), 7U);
  EXPECT_EQ(earlier.left_out, 4);
}

SimulationSummary run(const CurveTable& table, Cost budget, std::uint64_t seed, std::span<const CurveTable> from) {
  const PolicySpec spec{.name = "bapi"};
  return simulate(table, spec, *make_policy(spec), {.budget = budget, .seed = seed, .from = from});
}

double mean_regret(const CurveTable& table, double full_runs, std::span<const CurveTable> from) {
  constexpr int kSeeds = 5;
  double sum = 0.0;
  for (int seed = 0; seed < kSeeds; ++seed) {
    sum += run(table, full_runs * table.mean_full_cost(), static_cast<std::uint64_t>(seed), from).normalised_regret;
  }
  return sum / kSeeds;
}

// The same surface, seen through another metric and with other noise.
CurveTable related_to(CurveTable table) {
  Rng rng(9);
  for (CurveTable::Run& each : table.runs) {
    for (double& value : each.value) value = 40.0 + 3.0 * value + 0.01 * rng.normal();
  }
  table.metric.name = "score";
  return table;
}

// The curves of the same table, given to other configurations.
CurveTable unrelated_to(CurveTable table, std::uint64_t seed) {
  Rng rng(seed);
  for (std::size_t i = table.runs.size() - 1; i > 0; --i) {
    std::swap(table.runs[i], table.runs[static_cast<std::size_t>(rng.below(static_cast<int>(i) + 1))]);
  }
  return table;
}

TEST(WarmStart, FromTheSameProblemHelps) {
  const CurveTable table = synthetic_table({.rows = 60, .dimensions = 3, .epochs = 12, .seed = 4});
  const std::vector<CurveTable> from = {
      earlier_trials({.table = related_to(table), .budget = parse_table_budget("5full")}, 77)};
  const double without = mean_regret(table, 2.0, {});
  EXPECT_LT(mean_regret(table, 2.0, from), 0.6 * without);
}

TEST(WarmStart, FromAnUnrelatedProblemDoesNoHarm) {
  constexpr double kLuck = 0.02;  // of the mean of fifteen runs that try other configurations
  const CurveTable table = synthetic_table({.rows = 100, .dimensions = 3, .epochs = 12, .seed = 4});
  double with = 0.0;
  for (const std::uint64_t seed : {1, 2, 3}) {
    const std::vector<CurveTable> from = {
        earlier_trials({.table = unrelated_to(table, seed), .budget = parse_table_budget("5full")}, 77)};
    with += mean_regret(table, 3.0, from) / 3.0;
  }
  EXPECT_LT(with, mean_regret(table, 3.0, {}) + kLuck);
}

TEST(WarmStart, TheBestOfTheEarlierStudyAreTheFirstTrials) {
  const CurveTable table = test::small_table(30, 9);
  const std::vector<CurveTable> from = {table};
  const SimulationSummary summary = run(table, 60.0, 3, from);
  const std::vector<EarlierBest> best =
      best_of_earlier({earlier_study(table, study_of(table, 60.0, {}, 3, 1))}, table.space, table.configs);
  ASSERT_EQ(best.size(), 1U);  // of two parameters
  for (std::size_t i = 0; i < best.size(); ++i) {
    EXPECT_EQ(summary.history->trials()[i].config, best[i].wish);
  }
}

TEST(WarmStart, WithoutAnEarlierStudyEverythingIsAsBefore) {
  const CurveTable table = test::small_table(30, 9);
  const SimulationSummary plain = simulate(table, {}, *make_policy({}), {.budget = 60.0, .seed = 3});
  EXPECT_EQ(run(table, 60.0, 3, {}).events, plain.events);
  for (const StoredEvent& stored : plain.events) {
    EXPECT_FALSE(std::holds_alternative<ConfigEnqueued>(stored.event));
    const Reason* why = reason_of(stored.event);
    if (!why) continue;
    for (const Note& note : why->notes) EXPECT_FALSE(note.name.starts_with("weight of")) << note.name;
  }
}

std::vector<std::pair<Config, Epoch>> trained(const SimulationSummary& summary) {
  std::vector<std::pair<Config, Epoch>> trials;
  for (const Trial& trial : summary.history->trials()) trials.emplace_back(trial.config, trial.curve.last_epoch());
  return trials;
}

TEST(WarmStart, WithoutItsCurvesAnEarlierStudyNamesConfigurationsAlone) {
  const CurveTable table = synthetic_table({.rows = 60, .dimensions = 3, .epochs = 12, .seed = 4});
  const std::vector<CurveTable> from = {
      earlier_trials({.table = related_to(table), .budget = parse_table_budget("5full")}, 77)};
  std::vector<CurveTable> misleading = from;  // its best trial is the same, what is known of the others is not
  std::vector<CurveTable::Run>& runs = misleading.front().runs;
  const auto best = std::ranges::max_element(
      runs, {}, [](const CurveTable::Run& run) { return *std::ranges::max_element(run.value); });
  const double worst = *std::ranges::min_element(best->value) - 1.0;
  for (auto run = runs.begin(); run != runs.end(); ++run) {
    if (run == best) continue;
    for (double& value : run->value) value = 2.0 * worst - value;
  }
  const auto trials_with = [&](const char* earlier_curves, std::span<const CurveTable> earlier) {
    const PolicySpec spec{.name = "bapi", .options = {{"earlier_curves", earlier_curves}}};
    return trained(simulate(
        table, spec, *make_policy(spec), {.budget = 3.0 * table.mean_full_cost(), .seed = 5, .from = earlier}));
  };
  EXPECT_EQ(trials_with("off", from), trials_with("off", misleading));
  EXPECT_NE(trials_with("on", from), trials_with("off", from));
}

TEST(WarmStart, DecisionsSayWhichWeightTheEarlierStudyHas) {
  const CurveTable table = test::small_table(30, 9);
  const std::vector<CurveTable> from = {table};
  int told = 0;
  for (const StoredEvent& stored : run(table, 60.0, 3, from).events) {
    const Reason* why = reason_of(stored.event);
    if (!why) continue;
    for (const Note& note : why->notes) {
      if (note.name != "weight of the earlier study") continue;
      ++told;
      EXPECT_GE(note.value, 0.0);
    }
  }
  EXPECT_GT(told, 3);
}

}  // namespace warm_start_test
}  // namespace bapi
