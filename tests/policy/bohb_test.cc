#include "bapi/policy/rivals/bohb.h"

#include <gtest/gtest.h>

#include <cmath>

#include "bapi/tables/simulate.h"
#include "tests/support/tables.h"

namespace bapi {
namespace {

CurveTable table_in(int dimensions, int rows, Epoch max_epoch) {
  std::vector<Param> params;
  for (int k = 0; k < dimensions; ++k) params.push_back({.name = "x" + std::to_string(k), .domain = RealRange{}});
  CurveTable table = test::small_table(rows, max_epoch);
  table.space = Space(params);
  Rng rng(11);
  for (Config& config : table.configs) config = table.space.sample(rng);
  for (std::size_t i = 0; i < table.runs.size(); ++i) {
    const double x = std::get<double>(table.configs[i].values[0]);
    for (std::size_t t = 0; t < table.runs[i].value.size(); ++t) {
      table.runs[i].value[t] = 1.0 - (x - 0.7) * (x - 0.7) - 0.5 / std::sqrt(static_cast<double>(t + 1));
    }
    std::fill(table.runs[i].cost.begin(), table.runs[i].cost.end(), 1.0);
  }
  table.validate();
  return table;
}

std::vector<Event> events_of(const CurveTable& table, const std::string& policy, Cost budget) {
  const PolicySpec spec{.name = policy};
  std::vector<Event> events;
  for (const StoredEvent& stored : simulate(table, spec, *make_policy(spec), {.budget = budget, .seed = 5}).events) {
    events.push_back(stored.event);
  }
  return events;
}

// The history just after the event at which BOHB's model data satisfied `stop`, with the number of finished segments.
struct Onset {
  int runs = 0;
  double full_runs = 0.0;  // what they cost at the rungs' levels before these are rounded to whole epochs
  std::size_t events = 0;
};

// As a share of a full run: 1, 1/3, 1/9, ...; 0 before the first epoch.
double level_of(Epoch epoch, Epoch max_epoch) {
  return epoch == 0
             ? 0.0
             : std::pow(3.0, -std::floor(std::log(static_cast<double>(max_epoch) / epoch) / std::log(3.0) + 1e-9));
}

std::map<Epoch, Onset> onsets(const CurveTable& table, const std::vector<Event>& events, Cost budget) {
  const PolicySpec spec{.name = "bohb"};
  const Bohb bohb(spec);
  History history(study_of(table, budget, spec, 5, 1));
  std::map<Epoch, Onset> first;
  Onset now;
  for (const Event& event : events) {
    const auto* done = std::get_if<SegmentDone>(&event);
    const OpenSegment closed = done ? *history.trial(done->trial).segment : OpenSegment();
    history.apply(event);
    ++now.events;
    if (!done) continue;
    now.full_runs += level_of(closed.until, table.max_epoch) - level_of(closed.from, table.max_epoch);
    ++now.runs;
    if (const std::optional<LevelResults> data = bohb.model_data(history)) first.try_emplace(data->epoch, now);
  }
  return first;
}

// Runs that are done when the first model of each rung level appears, and their cost in tenths of a full run.
std::map<Epoch, std::pair<int, int>> before_models(int dimensions, Epoch epochs, int full_runs) {
  const CurveTable table = table_in(dimensions, 400, epochs);
  const Cost budget = static_cast<double>(epochs) * full_runs;
  std::map<Epoch, std::pair<int, int>> before;
  for (const auto& [epoch, onset] : onsets(table, events_of(table, "bohb", budget), budget)) {
    before[epoch] = {onset.runs, static_cast<int>(std::lround(10.0 * onset.full_runs))};
  }
  return before;
}

// 25 epochs in 6 dimensions: the first model needs 14 results at the lowest rung; bracket 0 has 9 there, the brackets
// 1 and 2 none, the next cycle brings the other 5. 25 runs and 7.6 full runs are done by then.
TEST(Bohb, FirstModelsAppearWhereTheyShould) {
  using Before = std::map<Epoch, std::pair<int, int>>;
  EXPECT_EQ(before_models(6, 25, 30), (Before{{2, {25, 76}}, {8, {51, 154}}, {25, {59, 200}}}));
  EXPECT_EQ(before_models(6, 50, 30), (Before{{1, {14, 5}}, {5, {45, 36}}, {16, {103, 148}}, {50, {128, 233}}}));
  EXPECT_EQ(before_models(3, 100, 18),
            (Before{{1, {8, 1}}, {3, {89, 12}}, {11, {116, 23}}, {33, {172, 81}}, {100, {185, 153}}}));
  EXPECT_EQ(before_models(4, 100, 20),
            (Before{{1, {10, 1}}, {3, {91, 12}}, {11, {149, 47}}, {33, {175, 93}}, {100, {187, 173}}}));
}

TEST(Bohb, IsHyperbandUntilItsFirstModel) {
  const CurveTable table = table_in(6, 400, 25);
  const Cost budget = 25.0 * 30;
  const std::vector<Event> bohb = events_of(table, "bohb", budget);
  const std::vector<Event> hyperband = events_of(table, "hyperband", budget);
  const std::size_t same = onsets(table, bohb, budget).at(2).events;
  ASSERT_GE(hyperband.size(), same);
  for (std::size_t i = 0; i < same; ++i) ASSERT_EQ(bohb[i], hyperband[i]) << "event " << i;
  EXPECT_NE(bohb, hyperband);
}

TEST(Bohb, ResultsBelowTheLevelOfTheModelDoNotMatter) {
  const CurveTable table = table_in(1, 200, 9);
  const PolicySpec spec{.name = "bohb"};
  const Bohb bohb(spec);
  History history(study_of(table, 1e6, spec, 5, 1));
  std::int64_t next = 0;
  const auto finished_run = [&](int bracket, int rung, Epoch epoch) {
    const TrialId id{next};
    const std::size_t row = static_cast<std::size_t>(next++);
    history.apply(TrialStarted{.trial = id,
                               .config = table.configs[row],
                               .until = epoch,
                               .assignment = {.place = BracketPlace{.bracket = bracket, .rung = rung}}});
    for (Epoch t = 1; t <= epoch; ++t) {
      history.apply(Measured{id, {t, table.runs[row].value[static_cast<std::size_t>(t) - 1], 1.0}});
    }
    history.apply(SegmentDone{id});
  };
  for (int i = 0; i < 3; ++i) finished_run(1, 0, 3);
  EXPECT_FALSE(bohb.model_data(history));
  finished_run(1, 0, 3);
  ASSERT_TRUE(bohb.model_data(history));
  const LevelResults before = *bohb.model_data(history);
  EXPECT_EQ(before.epoch, 3);
  EXPECT_EQ(before.points.rows(), 4);
  for (int i = 0; i < 9; ++i) finished_run(0, 0, 1);
  const LevelResults after = *bohb.model_data(history);
  EXPECT_EQ(after.epoch, before.epoch);
  EXPECT_EQ(after.points, before.points);
}

TEST(Bohb, AFailedRunCountsAsTheWorstAtItsLevel) {
  const CurveTable table = table_in(1, 200, 9);
  const PolicySpec spec{.name = "bohb"};
  const Bohb bohb(spec);
  History history(study_of(table, 1e6, spec, 5, 1));
  for (std::int64_t i = 0; i < 4; ++i) {
    const TrialId id{i};
    history.apply(TrialStarted{.trial = id,
                               .config = table.configs[static_cast<std::size_t>(i)],
                               .until = 1,
                               .assignment = {.place = BracketPlace{.bracket = 0, .rung = 0}}});
    if (i == 0) {
      history.apply(TrialFailed{.trial = id, .message = "diverged"});
    } else {
      history.apply(Measured{id, {1, -1e6 * static_cast<double>(i), 1.0}});
      history.apply(SegmentDone{id});
    }
  }
  const std::optional<LevelResults> data = bohb.model_data(history);
  ASSERT_TRUE(data);
  EXPECT_EQ(data->points.row(3).transpose(), bohb_point(table.space, table.configs[0]));
}

TEST(Bohb, PointsAndConfigurationsAreTwoWaysToWriteTheSame) {
  const Space space({{.name = "rate", .domain = RealRange{1e-4, 1.0, Scale::log}},
                     {.name = "layers", .domain = IntRange{1, 5}},
                     {.name = "fixed", .domain = Constant{std::int64_t{3}}},
                     {.name = "optimizer",
                      .domain = Choice{.options = {std::string("sgd"), std::string("adam"), std::string("lamb")}}}});
  const std::vector<Coordinate> axes = bohb_coordinates(space);
  ASSERT_EQ(axes.size(), 3U);
  EXPECT_EQ(axes[0].options, 0);
  EXPECT_EQ(axes[1].options, 0);
  EXPECT_EQ(axes[2].options, 3);
  for (const char* name : {"sgd", "adam", "lamb"}) {
    const Config config{{0.01, std::int64_t{4}, std::int64_t{3}, std::string(name)}};
    const Config back = bohb_config(space, bohb_point(space, config));
    EXPECT_EQ(back.values[1], config.values[1]);
    EXPECT_EQ(back.values[3], config.values[3]);
    EXPECT_NEAR(std::get<double>(back.values[0]), 0.01, 1e-12);
  }
}

TEST(Bohb, NewConfigurationsGatherAroundTheBest) {
  const auto near_the_peak = [](const std::vector<Event>& events) {
    int near = 0;
    int all = 0;
    for (const Event& event : events) {
      const auto* start = std::get_if<TrialStarted>(&event);
      if (!start || index(start->trial) < 30) continue;
      ++all;
      if (std::abs(std::get<double>(start->config.values[0]) - 0.7) < 0.15) ++near;
    }
    return static_cast<double>(near) / all;
  };
  const CurveTable table = table_in(1, 1000, 9);
  EXPECT_GT(near_the_peak(events_of(table, "bohb", 500.0)), 1.5 * near_the_peak(events_of(table, "hyperband", 500.0)));
}

}  // namespace
}  // namespace bapi
