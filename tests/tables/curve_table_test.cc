#include "bapi/tables/curve_table.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numeric>

#include "bapi/base/error.h"
#include "bapi/policy/rivals/random_search.h"
#include "bapi/tables/csv_table.h"
#include "bapi/tables/simulate.h"
#include "bapi/tables/synthetic.h"
#include "tests/support/tables.h"

namespace bapi {
namespace {

constexpr const char* kCsv =
    "# metric: {name: error, goal: minimize}\n"
    "# parameters:\n"
    "#   lr: {min: 1e-3, max: 1, log: true}\n"
    "#   opt: {values: [sgd, adam]}\n"
    "lr,opt,epoch,error,cost\n"
    "0.1,sgd,1,0.5,2\n"
    "0.1,sgd,2,0.4,2.5\n"
    "0.01,adam,1,0.3,1\n";

std::string message_of(const std::string& csv) {
  try {
    parse_csv_table(csv, "t.csv");
  } catch (const InvalidInput& e) {
    return e.what();
  }
  return "(accepted)";
}

TEST(CsvTable, ReadsParametersValuesAndCosts) {
  const CurveTable table = parse_csv_table(kCsv, "t.csv");
  ASSERT_EQ(table.configs.size(), 2U);
  EXPECT_EQ(table.max_epoch, 2);
  EXPECT_EQ(table.metric.goal, Goal::minimize);
  EXPECT_EQ(table.runs[0].value, (std::vector<double>{0.5, 0.4}));
  EXPECT_EQ(table.runs[0].cost, (std::vector<double>{2.0, 2.5}));
  EXPECT_EQ(to_text(table.configs[1].values[1]), "adam");
  EXPECT_EQ(table.mean_full_cost(), 2.75);
  EXPECT_EQ(table.best(), -0.3);
}

TEST(CsvTable, SaysFileLineFoundAndExpected) {
  const std::string csv(kCsv);
  EXPECT_NE(message_of(csv + "0.01,adam,3,0.2,1\n").find("t.csv:9: epoch 3, expected 2"), std::string::npos);
  EXPECT_NE(message_of(csv + "0.01,adam,2\n").find("t.csv:9: 3 fields, expected 5"), std::string::npos);
  EXPECT_NE(message_of(csv + "0.5,lion,1,0.2,1\n").find("t.csv:9: opt = \"lion\", expected one of sgd, adam"),
            std::string::npos);
  EXPECT_NE(message_of(csv + "5,sgd,1,0.2,1\n").find("t.csv:9: lr = 5, expected a number from 0.001 to 1"),
            std::string::npos);
  EXPECT_NE(message_of(csv + "0.5,sgd,1,0.2,inf\n").find("t.csv:9: cost = inf"), std::string::npos);
  EXPECT_NE(message_of("# metric: {name: a, goal: maximize}\n# parameters:\n#   n: {min: 1, max: 9, type: "
                       "int}\nn,epoch,a\n2.5,1,1\n")
                .find("t.csv:5: n = 2.5, expected a whole number"),
            std::string::npos);
  EXPECT_NE(message_of("lr,epoch\n0.1,1\n").find("expected a header"), std::string::npos);
}

TEST(CsvTable, SaysInWhatUnitItsCostsAre) {
  const auto with_unit = [](const std::string& unit) { return "# cost_unit: " + unit + "\n" + kCsv; };
  EXPECT_EQ(parse_csv_table(kCsv, "t.csv").cost_unit, "cost");
  EXPECT_EQ(parse_csv_table(with_unit("s"), "t.csv").cost_unit, "s");
  EXPECT_EQ(parse_csv_table(with_unit("seconds  # of a GPU"), "t.csv").cost_unit, "s");
  EXPECT_EQ(parse_csv_table(with_unit("\"usd\""), "t.csv").cost_unit, "usd");
  EXPECT_NE(message_of(with_unit("hours")).find("t.csv:1: costs in hours; time is given in seconds"),
            std::string::npos);
  EXPECT_NE(message_of(with_unit("")).find("t.csv:1: expected a unit"), std::string::npos);
  EXPECT_NE(message_of("# metric: {name: a, goal: maximize}\n# cost_unit: s\n# parameters: {x: {min: 0.0, max: "
                       "1.0}}\nx,epoch,a\n0,1,1\n")
                .find("no column cost"),
            std::string::npos);
}

TEST(CurveTable, MedianFinalSkipsWhatCrashed) {
  CurveTable table = test::table_of(3, 2, [](double x, Epoch t) { return x + t; });
  EXPECT_EQ(table.median_final(), 2.5);
  table.runs[2].value[1] = std::numeric_limits<double>::quiet_NaN();
  EXPECT_EQ(table.median_final(), 2.0 + 0.0);  // finals 2, 2.5 and, before the crash, 2
  EXPECT_EQ(table.best(), 2.5);
}

TEST(CurveTable, AStudyBecomesTheTableItWasMadeFrom) {
  const CurveTable table = test::small_table(6, 4);
  const PolicySpec spec{.name = "random"};
  RandomSearch policy(spec);
  const SimulationSummary summary = simulate(table, spec, policy, {.budget = 1e6, .seed = 1});
  History history(study_of(table, 1e6, spec, 1, 1));
  for (const StoredEvent& stored : summary.events) history.apply(stored.event);
  const CurveTable again = table_of(history);
  ASSERT_EQ(again.runs.size(), 6U);
  for (std::size_t i = 0; i < 6; ++i) {
    const std::size_t original = table.row(again.configs[i]);
    EXPECT_EQ(again.runs[i].value, table.runs[original].value);
    EXPECT_EQ(again.runs[i].cost, table.runs[original].cost);
  }
}

Trial trial_of(const History& history, std::int64_t id) { return history.trial(TrialId{id}); }

// Trials of three epochs at most: 0 completed, 1 paused after one epoch, 2 failed after one, 3 failed before the first.
History broken_off_study() {
  History history(study_of(test::small_table(6, 3), 1e6, {.name = "random"}, 1, 1));
  const std::vector<Config>& pool = history.spec().pool;
  const auto start = [&](std::int64_t id, Epoch until) {
    history.apply(TrialStarted{.trial = TrialId{id}, .config = pool[static_cast<std::size_t>(id)], .until = until});
  };
  const auto report = [&](std::int64_t id, Epoch epoch, double value, Cost cost) {
    history.apply(Measured{.trial = TrialId{id}, .measurement = {epoch, value, cost}});
  };
  start(0, 3);
  for (Epoch t = 1; t <= 3; ++t) report(0, t, 0.1 * t, 4.0);
  history.apply(SegmentDone{.trial = TrialId{0}});
  start(1, 1);
  report(1, 1, 0.9, 2.0);
  history.apply(SegmentDone{.trial = TrialId{1}});
  start(2, 3);
  report(2, 1, 0.7, 1.0);
  history.apply(Overhead{.trial = TrialId{2}, .kind = OverheadKind::failed, .epoch = 2, .cost = 0.5});
  history.apply(TrialFailed{.trial = TrialId{2}, .message = "killed"});
  start(3, 3);
  history.apply(Overhead{.trial = TrialId{3}, .kind = OverheadKind::failed, .epoch = 1, .cost = 0.25});
  history.apply(TrialFailed{.trial = TrialId{3}, .message = "killed"});
  return history;
}

TEST(CurveTable, OnlyCompletedTrialsOfAStudySayWhatAFullRunCostsAndGives) {
  const CurveTable table = table_of(broken_off_study());
  EXPECT_EQ(table.mean_full_cost(), 12.0);
  EXPECT_DOUBLE_EQ(table.median_final(), 0.3);
  EXPECT_EQ(table.best(), 0.9);
}

TEST(CurveTable, WithoutACompleteRunEpochsAreCountedUp) {
  CurveTable table = table_of(broken_off_study());
  table.runs.erase(table.runs.begin());
  table.configs.erase(table.configs.begin());
  EXPECT_DOUBLE_EQ(table.mean_full_cost(), 3.0 * (2.0 + 1.0 + 0.5 + 0.25) / 4.0);
  EXPECT_DOUBLE_EQ(table.median_final(), 0.8);
}

TEST(CurveTable, AFailedTrialCrashesAgainInTheEpochAfterItsLast) {
  const History history = broken_off_study();
  const CurveTable table = table_of(history);
  ASSERT_EQ(table.runs.size(), 4U);
  ASSERT_EQ(table.runs[2].value.size(), 2U);
  EXPECT_TRUE(std::isnan(table.runs[2].value[1]));
  EXPECT_EQ(table.runs[2].cost, (std::vector<double>{1.0, 0.5}));
  ASSERT_EQ(table.runs[3].value.size(), 1U);
  EXPECT_TRUE(std::isnan(table.runs[3].value[0]));
  for (std::int64_t id = 0; id < 4; ++id) {
    const std::vector<double>& cost = table.runs[static_cast<std::size_t>(id)].cost;
    EXPECT_EQ(std::accumulate(cost.begin(), cost.end(), 0.0), trial_of(history, id).spent());
  }
}

TEST(CurveTable, AnyConfigurationCanBeTrainedWhereATableAnswersEverywhere) {
  CurveTable table = test::small_table(6, 4);
  table.at_any = [](const Config& config) {
    return CurveTable::Run{.value = std::vector<double>(4, std::get<double>(config.values[0])),
                           .cost = std::vector<double>(4, 1.0)};
  };
  const PolicySpec spec{.name = "random"};
  RandomSearch policy(spec);
  const SimulationSummary summary = simulate(table, spec, policy, {.budget = 40.0, .seed = 1});
  EXPECT_EQ(summary.trials, 10);
  EXPECT_EQ(summary.spent, 40.0);
}

class SyntheticShapes : public testing::TestWithParam<std::string> {};

TEST_P(SyntheticShapes, MakesAValidTableFromASeed) {
  const SyntheticOptions options{.shape = parse_curve_shape(GetParam()), .rows = 60, .seed = 3};
  const CurveTable table = synthetic_table(options);
  EXPECT_EQ(table.runs.size(), 60U);
  EXPECT_EQ(table.runs[7].value.size(), synthetic_table(options).runs[7].value.size());
  EXPECT_GT(table.best(), table.median_final());
}

INSTANTIATE_TEST_SUITE_P(Shapes, SyntheticShapes, testing::ValuesIn(curve_shapes()), [](const auto& param_info) {
  std::string name = param_info.param;
  for (char& c : name) c = c == '-' ? '_' : c;
  return name;
});

TEST(Synthetic, CrossingCurvesRewardPatience) {
  // The best at the end is not among the better half at a tenth of the epochs.
  const CurveTable table = synthetic_table({.shape = CurveShape::crossing, .rows = 200, .noise = 0.0, .seed = 1});
  std::size_t winner = 0;
  for (std::size_t i = 0; i < table.runs.size(); ++i) {
    if (table.runs[i].value.back() > table.runs[winner].value.back()) winner = i;
  }
  int better_early = 0;
  for (const CurveTable::Run& run : table.runs) better_early += run.value[4] > table.runs[winner].value[4] ? 1 : 0;
  EXPECT_GT(better_early, 100);
}

TEST(Synthetic, DivergingRunsCrash) {
  const CurveTable table = synthetic_table({.shape = CurveShape::diverging, .rows = 100, .seed = 1});
  int crashed = 0;
  for (const CurveTable::Run& run : table.runs) crashed += std::isfinite(run.value.back()) ? 0 : 1;
  EXPECT_GT(crashed, 10);
  EXPECT_LT(crashed, 70);
}

}  // namespace
}  // namespace bapi
