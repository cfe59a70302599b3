#include "bapi/policy/bapi.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "bapi/policy/registry.h"
#include "bapi/run/simulate.h"
#include "tests/support/tables.h"

namespace bapi {
namespace {

SimulationSummary run(const CurveTable& table, const PolicySpec& spec, const SimulationOptions& options) {
  return simulate(table, spec, *make_policy(spec), options);
}

History replayed(const CurveTable& table, const PolicySpec& spec, const SimulationOptions& options) {
  const SimulationSummary summary = run(table, spec, options);
  History history(study_of(table, options.budget, spec, options.seed, options.workers));
  for (const StoredEvent& stored : summary.events) history.apply(stored.event);
  return history;
}

TEST(Bapi, InitialDesignIsShortAndBounded) {
  const CurveTable table = test::small_table(60, 50);
  const PolicySpec spec{.name = "bapi"};
  const SimulationSummary summary = run(table, spec, {.budget = 400.0, .seed = 1});
  int initial = 0;
  for (const StoredEvent& stored : summary.events) {
    const auto* start = std::get_if<TrialStarted>(&stored.event);
    if (!start || start->why.rule != "initial design") continue;
    EXPECT_EQ(start->until, 5);  // a tenth of 50
    ++initial;
  }
  EXPECT_EQ(initial, 2);  // one parameter and one more
}

TEST(Bapi, RungsDoubleUntilTheLastEpoch) {
  const CurveTable table = test::small_table(60, 50);
  const SimulationSummary summary = run(table, {.name = "bapi"}, {.budget = 1500.0, .seed = 1});
  for (const StoredEvent& stored : summary.events) {
    const auto* resume = std::get_if<TrialResumed>(&stored.event);
    if (resume && resume->why.number("at_epoch") == 50.0) {  // less where the budget ends before
      EXPECT_TRUE(resume->until == 10 || resume->until == 20 || resume->until == 40 || resume->until == 50)
          << resume->until;
    }
  }
}

TEST(Bapi, EveryDecisionOfTheModelCarriesItsNumbers) {
  for (const char* name : {"bapi", "bapi-4"}) {
    const SimulationSummary summary = run(test::small_table(40, 20), {.name = name}, {.budget = 500.0, .seed = 1});
    for (const StoredEvent& stored : summary.events) {
      const Rationale* why = nullptr;
      if (const auto* s = std::get_if<TrialStarted>(&stored.event)) why = &s->why;
      if (const auto* r = std::get_if<TrialResumed>(&stored.event)) why = &r->why;
      if (!why || why->rule == "initial design") continue;
      for (const char* number : {"predicted", "sd", "stop", "incumbent"}) {
        EXPECT_TRUE(why->number(number).has_value()) << name << ": " << why->rule << " lacks " << number;
      }
    }
  }
}

TEST(Bapi, NearTheEndOnlyWhatCanStillFinishIsTrained) {
  // Nothing that is begun with less than a full run's cost left could finish: what remains goes to trials under way.
  const CurveTable table = test::table_of(40, 10, [](double x, Epoch t) { return x + 1.0 - 1.0 / t; });
  const SimulationSummary summary = run(table, {.name = "bapi"}, {.budget = 60.0, .seed = 3});
  EXPECT_GE(summary.spent, 55.0);
  EXPECT_LE(summary.spent, 60.0 + 1e-9);
}

TEST(Bapi, PausedTrialsCompeteWithNewOnes) {
  const History history = replayed(test::small_table(60, 20), {.name = "bapi"}, {.budget = 600.0, .seed = 2});
  const auto resumed = std::count_if(
      history.trials().begin(), history.trials().end(), [](const Trial& trial) { return trial.starts > 1; });
  EXPECT_GT(resumed, 3);
}

TEST(Bapi, PlanLoopLooksEveryBlockAndNeverStepsBack) {
  const CurveTable table = test::small_table(40, 20);
  const SimulationSummary summary = run(table, {.name = "bapi-4"}, {.budget = 500.0, .seed = 1});
  std::map<std::int64_t, Epoch> reached;
  for (const StoredEvent& stored : summary.events) {
    if (const auto* m = std::get_if<Measured>(&stored.event)) reached[index(m->trial)] = m->measurement.epoch;
    if (const auto* r = std::get_if<TrialResumed>(&stored.event)) {
      EXPECT_GT(r->until, reached[index(r->trial)]);
      EXPECT_LE(r->until, reached[index(r->trial)] + 4);  // a fifth of 20
    }
  }
}

TEST(Bapi, WorkersAreSentToDifferentConfigurations) {
  const CurveTable table = test::small_table(60, 20);
  for (const char* name : {"bapi", "bapi-4"}) {
    const SimulationSummary summary = run(table, {.name = name}, {.budget = 500.0, .seed = 1, .workers = 4});
    std::vector<Config> started;
    for (const StoredEvent& stored : summary.events) {
      if (const auto* s = std::get_if<TrialStarted>(&stored.event)) {
        EXPECT_EQ(std::find(started.begin(), started.end(), s->config), started.end());
        started.push_back(s->config);
      }
    }
    EXPECT_LE(summary.spent, 500.0 * (1 + 1e-9));
  }
}

TEST(Bapi, BeatsRandomSearchOnSmoothCurves) {
  const CurveTable table = test::small_table(200, 20);
  double bapi = 0.0;
  double random = 0.0;
  for (std::uint64_t seed = 0; seed < 5; ++seed) {
    const Cost budget = 6.0 * table.mean_full_cost();
    bapi += run(table, {.name = "bapi"}, {.budget = budget, .seed = seed}).regret;
    random += run(table, {.name = "random"}, {.budget = budget, .seed = seed}).regret;
  }
  EXPECT_LT(bapi, 0.5 * random);
}

TEST(Bapi, MixedSpacesAreSearchedAtValidConfigurations) {
  CurveTable table;
  table.name = "mixed";
  table.metric = {.name = "accuracy", .goal = Goal::maximize};
  table.max_epoch = 8;
  table.space = Space({{.name = "lr", .domain = RealRange{.low = 1e-4, .high = 1.0, .scale = Scale::log}},
                       {.name = "layers", .domain = IntRange{.low = 1, .high = 4}},
                       {.name = "opt", .domain = Choice{.options = {std::string("sgd"), std::string("adam")}}},
                       {.name = "momentum",
                        .domain = RealRange{.low = 0.0, .high = 0.99},
                        .when = {{.param = "opt", .values = {std::string("sgd")}}}},
                       {.name = "depth", .domain = Constant{std::int64_t{3}}}});
  const Space& space = table.space;
  table.at_any = [&space](const Config& config) {
    space.validate(config);
    const double quality = 1.0 - std::pow(std::log10(std::get<double>(config.values[0])) + 2.0, 2.0) / 8.0 +
                           0.05 * static_cast<double>(std::get<std::int64_t>(config.values[1])) +
                           (to_text(config.values[2]) == "adam" ? 0.1 : 0.0);
    CurveTable::Run result;
    for (Epoch t = 1; t <= 8; ++t) {
      result.value.push_back(quality - 0.5 / t);
      result.cost.push_back(1.0);
    }
    return result;
  };
  Rng rng(1);
  for (int i = 0; i < 50; ++i) {
    table.configs.push_back(space.sample(rng));
    table.runs.push_back(table.at_any(table.configs.back()));
  }
  for (const char* name : {"bapi", "bapi-4"}) {
    const SimulationSummary summary = run(table, {.name = name}, {.budget = 120.0, .seed = 1, .workers = 2});
    EXPECT_LE(summary.spent, 120.0 + 1e-9);
    EXPECT_LT(summary.normalised_regret, 0.3) << name;
  }
}

}  // namespace
}  // namespace bapi
