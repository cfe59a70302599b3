#include "bapi/policy/bapi.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>

#include "bapi/acquisition/improvement.h"
#include "bapi/policy/planning.h"
#include "bapi/policy/registry.h"
#include "bapi/tables/simulate.h"
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

// Told with decisions that were made although the model expected nothing.
std::optional<double> hope_of(const Reason& why) {
  for (const Note& note : why.notes) {
    if (note.name == "log of the largest expected improvement") return note.value;
  }
  return std::nullopt;
}

bool is_of_the_race(const Reason& why) { return hope_of(why) && why.rule != Rule::improvement_per_cost; }

// A row among bad ones is the best by far, and one epoch shows it: a model that is smooth in x never goes there.
CurveTable table_with_a_hidden_best() {
  return test::table_of(51, 20, [](double x, Epoch t) {
    const double end = std::abs(x - 0.1) < 0.001 ? 1.5 : 1.0 - (x - 0.7) * (x - 0.7);
    return end - 0.5 / std::sqrt(static_cast<double>(t));
  });
}

TEST(Bapi, InitialDesignIsShortAndBounded) {
  const CurveTable table = test::small_table(60, 50);
  const PolicySpec spec{.name = "bapi"};
  const SimulationSummary summary = run(table, spec, {.budget = 400.0, .seed = 1});
  int initial = 0;
  for (const StoredEvent& stored : summary.events) {
    const auto* start = std::get_if<TrialStarted>(&stored.event);
    if (!start || start->why.rule != Rule::initial_design) continue;
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
    if (resume && resume->why.forecast && resume->why.forecast->epoch == 50) {  // less where the budget ends before
      EXPECT_TRUE(resume->until == 10 || resume->until == 20 || resume->until == 40 || resume->until == 50)
          << resume->until;
    }
  }
}

TEST(Bapi, EveryDecisionOfTheModelCarriesItsNumbers) {
  for (const char* name : {"bapi", "bapi-4"}) {
    const SimulationSummary summary = run(test::small_table(40, 20), {.name = name}, {.budget = 500.0, .seed = 1});
    int preferred = 0;
    for (const StoredEvent& stored : summary.events) {
      const Reason* why = reason_of(stored.event);
      if (!why || why->rule == Rule::initial_design) continue;
      ASSERT_TRUE(why->forecast && why->price && why->score) << name << ": " << word(why->rule);
      EXPECT_TRUE(why->forecast->basis && why->forecast->quantiles.size() == kForecastShares.size()) << name;
      EXPECT_TRUE(why->forecast->flat || why->forecast->shortened) << name;
      EXPECT_EQ(why->score->unit, ScoreUnit::metric) << name;
      if (!why->rival) continue;
      ++preferred;
      EXPECT_LE(why->rival->log_score, why->score->log);
    }
    EXPECT_GT(preferred, 3) << name;
  }
}

TEST(Bapi, RacesOnceTheModelExpectsNothing) {
  const CurveTable table = table_with_a_hidden_best();
  const SimulationOptions options{.budget = 300.0, .seed = 1};
  const SimulationSummary raced = run(table, {.name = "bapi", .options = {{"race", "on"}}}, options);
  EXPECT_EQ(raced.regret, 0.0);
  int looks = 0;
  for (const StoredEvent& stored : raced.events) {
    const Reason* why = reason_of(stored.event);
    if (!why || !is_of_the_race(*why)) continue;
    ++looks;
    EXPECT_LT(*hope_of(*why), -7.0);
  }
  EXPECT_GT(looks, 20);
  for (const StoredEvent& stored : run(table, {.name = "bapi"}, options).events) {
    const Reason* why = reason_of(stored.event);
    EXPECT_FALSE(why && is_of_the_race(*why));
  }
}

// What the model alone would give up on is judged by the deviation of its forecast.
TEST(Bapi, DoubtsAModelThatExpectsNothing) {
  const CurveTable table = table_with_a_hidden_best();
  const auto doubted = [&](const char* doubt) {
    int count = 0;
    for (const StoredEvent& stored :
         run(table, {.name = "bapi", .options = {{"doubt", doubt}}}, {.budget = 300.0, .seed = 1}).events) {
      const Reason* why = reason_of(stored.event);
      if (!why || !hope_of(*why)) continue;
      ++count;
      EXPECT_LT(*hope_of(*why), -7.0);
      const ScoreBasis& basis = *why->forecast->basis;
      EXPECT_GT(log_expected_improvement(basis.mean, basis.sd, basis.target), *hope_of(*why));
    }
    return count;
  };
  EXPECT_GT(doubted("on"), 3);
  EXPECT_EQ(doubted("off"), 0);
}

// Nothing rises above chance before epoch 20 of 50.
TEST(Bapi, DoesNotBelieveFlatBeginnings) {
  const auto value = [](double x, Epoch t) {
    const double noise = 0.005 * std::sin(2.4 * t + 100.0 * x);
    return 0.1 + noise + (t < 20 ? 0.0 : (0.8 - (x - 0.7) * (x - 0.7)) * (1.0 - 1.0 / (t - 18.0)));
  };
  const CurveTable table = test::table_of(60, 50, value);
  const auto regret = [&](const PolicySpec& spec) {
    double sum = 0.0;
    for (const std::uint64_t seed : {1U, 2U, 3U}) sum += run(table, spec, {.budget = 300.0, .seed = seed}).regret;
    return sum;
  };
  EXPECT_LT(2.0 * regret({.name = "bapi"}), regret({.name = "bapi", .options = {{"late_starters", "off"}}}));
}

// All begin alike and seem to tell a little; after epoch 20 of 50 a half of them rises far above that.
TEST(Bapi, BeginsNewTrialsWithTheEpochsThatItTakesCurvesToPart) {
  const auto value = [](double x, Epoch t) {
    const double early = 0.1 + 0.015 * std::cos(9.0 * x) * (1.0 - std::exp(-0.2 * t));
    const double later = x < 0.5 ? 0.0 : 0.8 - 1.3 * (x - 0.8) * (x - 0.8);
    return early + later / (1.0 + std::exp(-0.5 * (t - 30.0)));
  };
  const CurveTable table = test::table_of(60, 50, value);
  const auto first_looks = [&](const char* late_starters) {
    const PolicySpec policy{.name = "bapi", .options = {{"late_starters", late_starters}}};
    std::vector<Epoch> looks;
    for (const StoredEvent& stored : run(table, policy, {.budget = 400.0, .seed = 1}).events) {
      if (const auto* start = std::get_if<TrialStarted>(&stored.event)) looks.push_back(start->until);
    }
    return looks;
  };
  const std::vector<Epoch> off = first_looks("off");
  EXPECT_EQ(*std::max_element(off.begin(), off.end()), 5);  // a tenth of 50
  const std::vector<Epoch> on = first_looks("on");
  EXPECT_EQ(on.front(), 5) << "nothing is known yet";
  EXPECT_GT(*std::max_element(on.begin(), on.end()), 15);
}

// In standardised units the score is the same whatever the metric is measured in; told is the metric's unit.
TEST(Bapi, ImprovementsAreToldInTheUnitOfTheMetric) {
  const auto quality = [](double x, Epoch t) { return 1.0 - (x - 0.7) * (x - 0.7) - 0.5 / std::sqrt(double(t)); };
  const auto in_percent = [&](double x, Epoch t) { return 100.0 * quality(x, t); };
  for (const char* name : {"bapi", "bapi-4"}) {
    const auto told = [&](const CurveTable& table) {
      std::vector<double> values;
      for (const StoredEvent& stored : run(table, {.name = name}, {.budget = 120.0, .seed = 1}).events) {
        const Reason* why = reason_of(stored.event);
        if (why && why->score) values.push_back(std::exp(why->score->log));
      }
      return values;
    };
    const std::vector<double> shares = told(test::table_of(40, 10, quality));
    const std::vector<double> percent = told(test::table_of(40, 10, in_percent));
    ASSERT_FALSE(shares.empty());
    ASSERT_FALSE(percent.empty());
    EXPECT_NEAR(percent.front(), 100.0 * shares.front(), 1e-3 * percent.front());
  }
}

// Nothing is told of values while every trial has failed.
TEST(Bapi, WithoutAValueNoneIsPredicted) {
  for (const char* name : {"bapi", "bapi-4"}) {
    const CurveTable table = test::small_table(20, 10);
    const PolicySpec policy{.name = name};
    History history(study_of(table, 100.0, policy, 1, 1));
    for (int i = 0; i < 3; ++i) {
      history.apply(
          TrialStarted{.trial = TrialId{i}, .config = table.configs[static_cast<std::size_t>(i)], .until = 1});
      history.apply(TrialFailed{.trial = TrialId{i}, .message = "crashed"});
    }
    Rng rng(1);
    const Decision decision = make_policy(policy)->ask(history, rng);
    const auto* start = std::get_if<Start>(&decision);
    ASSERT_NE(start, nullptr);
    EXPECT_NE(start->why.rule, Rule::unstated);
    EXPECT_FALSE(start->why.forecast) << name;
  }
}

// Two workers' blocks end in one batch of facts: both runs are looked at before either place is given away.
TEST(Bapi, EveryRunOfThePlanIsLookedAtAfterItsBlock) {
  const CurveTable table = test::small_table(20, 20);
  const PolicySpec policy{.name = "bapi-4"};
  History history(study_of(table, 1000.0, policy, 1, 2));
  const auto train = [&](TrialId id, std::size_t row, Epoch from, Epoch until) {
    for (Epoch t = from + 1; t <= until; ++t) {
      const auto at = static_cast<std::size_t>(t) - 1;
      history.apply(Measured{id, {t, table.runs[row].value[at], table.runs[row].cost[at]}});
    }
  };
  for (const std::size_t row : {0U, 19U}) {
    const TrialId id{std::ssize(history.trials())};
    history.apply(TrialStarted{
        .trial = id, .config = table.configs[row], .until = 20, .assignment = {.initial_run = static_cast<int>(row)}});
    train(id, row, 0, 20);
    history.apply(SegmentDone{id});
  }
  const std::vector<std::size_t> rows = {12, 15, 3};
  for (const std::size_t row : rows) {
    const TrialId id{std::ssize(history.trials())};
    history.apply(TrialStarted{.trial = id, .config = table.configs[row], .until = 4});
  }
  for (std::size_t i = 0; i < rows.size(); ++i) train(TrialId{2 + static_cast<int>(i)}, rows[i], 0, 4);
  for (std::size_t i = 0; i < rows.size(); ++i) history.apply(SegmentDone{TrialId{2 + static_cast<int>(i)}});

  std::vector<std::int64_t> looked_at;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    Rng rng(static_cast<std::uint64_t>(i));
    const Decision decision = make_policy(policy)->ask(history, rng);
    if (const auto* resume = std::get_if<Resume>(&decision)) {
      ASSERT_TRUE(resume->why.check);
      looked_at.push_back(index(resume->why.check->trial));
      history.apply(TrialResumed{.trial = resume->trial, .until = resume->until, .why = resume->why});
    } else {
      const auto* start = std::get_if<Start>(&decision);
      ASSERT_NE(start, nullptr);
      looked_at.push_back(start->why.check ? index(start->why.check->trial) : -1);
      history.apply(TrialStarted{.trial = TrialId{std::ssize(history.trials())},
                                 .config = start->config,
                                 .until = start->until,
                                 .why = start->why});
    }
  }
  EXPECT_EQ(looked_at, (std::vector<std::int64_t>{2, 3, 4}));
}

TEST(Bapi, AnEndSaysWhatEndedBeforeAndWhyNothingIsLeft) {
  // Every row is trained to its stop, and there is money for more.
  const SimulationSummary summary = run(test::small_table(3, 10), {.name = "bapi-4"}, {.budget = 1e5, .seed = 1});
  EXPECT_NE(summary.end.find("none of the trials considered is expected to improve"), std::string::npos) << summary.end;
}

TEST(Bapi, NearTheEndOnlyWhatCanStillFinishIsTrained) {
  // Nothing that is begun with less than a full run's cost left could finish: what remains goes to trials under way.
  const CurveTable table = test::table_of(40, 10, [](double x, Epoch t) { return x + 1.0 - 1.0 / t; });
  const PolicySpec racing{.name = "bapi", .options = {{"race", "on"}}};
  const SimulationSummary summary = run(table, racing, {.budget = 60.0, .seed = 3});
  EXPECT_GE(summary.spent, 55.0);
  EXPECT_LE(summary.spent, 60.0 + 1e-9);
  Cost left = 60.0;
  std::map<std::int64_t, Epoch> reached;
  int near_the_end = 0;
  for (const StoredEvent& stored : summary.events) {
    if (const auto* m = std::get_if<Measured>(&stored.event)) {
      reached[index(m->trial)] = m->measurement.epoch;
      left -= m->measurement.cost;
    }
    const Reason* why = reason_of(stored.event);
    if (!why || why->rule == Rule::initial_design) continue;
    const auto* resume = std::get_if<TrialResumed>(&stored.event);
    const Epoch done = resume ? reached[index(resume->trial)] : 0;
    const bool any_can_finish = left >= 10.0 || std::any_of(reached.begin(), reached.end(), [&](const auto& trial) {
                                  return trial.second < 10 && 10 - trial.second <= left;
                                });
    // Costs are known here: an epoch costs 1.
    if (any_can_finish) {
      EXPECT_LE(10 - done, left + 0.5) << "begun with " << left << " left";
      EXPECT_TRUE(is_of_the_race(*why) || why->forecast->epoch == 10) << why->forecast->epoch;
    }
    near_the_end += left < 10.0;
  }
  EXPECT_GT(near_the_end, 0);
}

TEST(Bapi, PausedTrialsCompeteWithNewOnes) {
  const History history = replayed(test::small_table(60, 20), {.name = "bapi"}, {.budget = 600.0, .seed = 2});
  const auto resumed = std::count_if(
      history.trials().begin(), history.trials().end(), [](const Trial& trial) { return trial.starts > 1; });
  EXPECT_GT(resumed, 3);
}

// Near its stop or not, a run is not taken up for less than a block of epochs while the budget pays for one.
TEST(Bapi, PlanLoopTakesUpRunsForAWholeBlock) {
  const CurveTable table = test::small_table(40, 20);
  const PolicySpec spec{.name = "bapi-4"};
  const SimulationSummary summary = run(table, spec, {.budget = 500.0, .seed = 1});
  History history(study_of(table, 500.0, spec, 1, 1));
  int taken_up = 0;
  for (const StoredEvent& stored : summary.events) {
    const auto* r = std::get_if<TrialResumed>(&stored.event);
    const bool by_plan = r && r->why.rule == Rule::plan;
    if (by_plan && !r->why.forecast->shortened) {  // for want of budget
      ++taken_up;
      EXPECT_EQ(r->until, std::min(history.trial(r->trial).curve.last_epoch() + 4, 20));  // a fifth of 20
    }
    if (r && r->why.forecast && r->why.forecast->shortened) {
      EXPECT_LE(history.budget().remaining(), 0.1 * 500.0);
    }
    history.apply(stored.event);
  }
  EXPECT_GT(taken_up, 3);
}

TEST(Bapi, PlanLoopLooksEveryBlockAndNeverStepsBack) {
  const CurveTable table = test::small_table(40, 20);
  const SimulationSummary summary = run(table, {.name = "bapi-4"}, {.budget = 500.0, .seed = 1});
  std::map<std::int64_t, Epoch> reached;
  for (const StoredEvent& stored : summary.events) {
    if (const auto* m = std::get_if<Measured>(&stored.event)) reached[index(m->trial)] = m->measurement.epoch;
    if (const auto* r = std::get_if<TrialResumed>(&stored.event)) {
      EXPECT_GT(r->until, reached[index(r->trial)]);
      const Epoch block = r->why.rule == Rule::initial_design ? 20 : 4;  // a fifth of 20
      EXPECT_LE(r->until, reached[index(r->trial)] + block);
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

// The same without a pool, in a space in which two workers could be sent to one configuration.
TEST(Bapi, WorkersAreSentToDifferentConfigurationsOfAnOpenSpace) {
  CurveTable table = test::small_table(5, 10);
  table.space = Space({{.name = "layers", .domain = IntRange{.low = 1, .high = 40}},
                       {.name = "units", .domain = IntRange{.low = 1, .high = 40}}});
  table.at_any = [](const Config& config) {
    const double a = static_cast<double>(std::get<std::int64_t>(config.values[0])) / 40.0;
    const double b = static_cast<double>(std::get<std::int64_t>(config.values[1])) / 40.0;
    CurveTable::Run result;
    for (Epoch t = 1; t <= 10; ++t) {
      result.value.push_back(1.0 - (a - 0.7) * (a - 0.7) - (b - 0.3) * (b - 0.3) - 0.3 / t);
      result.cost.push_back(1.0);
    }
    return result;
  };
  for (std::size_t i = 0; i < table.configs.size(); ++i) {
    table.configs[i] = {{static_cast<std::int64_t>(i) + 1, std::int64_t{1}}};
    table.runs[i] = table.at_any(table.configs[i]);
  }
  for (const char* name : {"bapi", "bapi-4", "freeze-thaw"}) {
    const SimulationSummary summary = run(table, {.name = name}, {.budget = 150.0, .seed = 1, .workers = 4});
    std::vector<Config> started;
    for (const StoredEvent& stored : summary.events) {
      const auto* start = std::get_if<TrialStarted>(&stored.event);
      if (!start) continue;
      EXPECT_EQ(std::find(started.begin(), started.end(), start->config), started.end()) << name;
      started.push_back(start->config);
    }
    EXPECT_GT(started.size(), 8U) << name;
    EXPECT_LE(summary.spent, 150.0 * (1 + 1e-9)) << name;
  }
}

// A program that keeps no checkpoints pays for its first epochs again whenever it goes on.
TEST(Bapi, WithoutCheckpointsToGoOnCostsAllEpochsAgain) {
  const CurveTable table = test::table_of(20, 10, [](double x, Epoch t) { return x + 1.0 - 1.0 / t; });
  for (const char* name : {"bapi", "bapi-4"}) {
    StudySpec spec = study_of(table, 1000.0, {.name = name}, 1, 1);
    spec.checkpoint = Checkpoint::none;
    History history(spec);
    for (int i = 0; i < 4; ++i) {
      const auto row = static_cast<std::size_t>(6 * i);
      const Epoch until = i == 3 ? 2 : 10;
      history.apply(TrialStarted{.trial = TrialId{i}, .config = table.configs[row], .until = until});
      for (Epoch t = 1; t <= until; ++t) {
        history.apply(Measured{TrialId{i}, {t, table.runs[row].value[static_cast<std::size_t>(t) - 1], 1.0}});
      }
      history.apply(SegmentDone{TrialId{i}});
    }
    Rng rng(1);
    const Evidence evidence(history);
    const Models models = fit_models(evidence, {}, rng);
    const Vector x = spec.space.encode(table.configs[18]);
    const Planning planning(evidence, models, {});
    EXPECT_NEAR(planning.cost_to({.x = x, .group = 0, .done = 2}, 8), 8.0, 0.4) << name;
    Rng stream(2);
    const Decision decision = make_policy({.name = name})->ask(history, stream);
    if (const auto* resume = std::get_if<Resume>(&decision)) {
      EXPECT_NEAR(resume->expected_cost, resume->until, 0.1 * resume->until) << name;
    } else {
      const Start& start = std::get<Start>(decision);
      EXPECT_NEAR(start.expected_cost, start.until, 0.1 * start.until) << name;
    }
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
