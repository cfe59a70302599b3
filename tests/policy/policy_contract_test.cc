// Laws that every registered policy obeys, whatever it thinks.
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>

#include "bapi/policy/registry.h"
#include "bapi/tables/simulate.h"
#include "tests/support/brisk_policy.h"
#include "tests/support/ledger.h"
#include "tests/support/tables.h"

namespace bapi {
namespace {

using test::brisk;

// Asks a new object every time: what it answers cannot come from memory.
class Forgetful : public Policy {
 public:
  explicit Forgetful(PolicySpec spec) : spec_(std::move(spec)) {}
  std::string_view name() const override { return spec_.name; }
  Decision ask(const History& history, Rng& rng) override { return make_policy(spec_)->ask(history, rng); }

 private:
  PolicySpec spec_;
};

// Every third configuration diverges, every fifth ends early, one curve explodes before it dies.
CurveTable hostile_table() {
  CurveTable table = test::small_table(24, 9);
  for (std::size_t i = 0; i < table.runs.size(); ++i) {
    CurveTable::Run& run = table.runs[i];
    if (i % 3 == 0) run.value[i % 9] = std::numeric_limits<double>::quiet_NaN();
    if (i % 5 == 1) {
      run.value.resize(4);
      run.cost.resize(4);
    }
  }
  table.runs[6].value = {-1e34, std::numeric_limits<double>::infinity()};
  table.runs[6].cost = {1.0, 1.0};
  return table;
}

// A space without a pool: a number and three options, of which one is right.
CurveTable open_table() {
  CurveTable table = test::small_table(3, 9);
  table.space =
      Space({{.name = "x", .domain = RealRange{}},
             {.name = "kind", .domain = Choice{.options = {std::string("a"), std::string("b"), std::string("c")}}}});
  table.at_any = [](const Config& config) {
    const double x = std::get<double>(config.values[0]);
    const double bonus = config.values[1] == Value(std::string("b")) ? 0.3 : 0.0;
    CurveTable::Run run;
    for (Epoch t = 1; t <= 9; ++t) {
      run.value.push_back(bonus - (x - 0.7) * (x - 0.7) - 0.5 / std::sqrt(static_cast<double>(t)));
      run.cost.push_back(1.0 + x);
    }
    return run;
  };
  for (std::size_t i = 0; i < table.configs.size(); ++i) {
    table.configs[i] = {{0.7, std::string(i == 0 ? "a" : i == 1 ? "b" : "c")}};
    table.runs[i] = table.at_any(table.configs[i]);
  }
  table.validate();
  return table;
}

// A space without a pool that has fifteen configurations.
CurveTable discrete_table() {
  CurveTable table = test::small_table(3, 9);
  table.space =
      Space({{.name = "units", .domain = IntRange{.low = 1, .high = 5}},
             {.name = "kind", .domain = Choice{.options = {std::string("a"), std::string("b"), std::string("c")}}}});
  table.at_any = [](const Config& config) {
    const auto units = static_cast<double>(std::get<std::int64_t>(config.values[0]));
    const double bonus = config.values[1] == Value(std::string("b")) ? 0.3 : 0.0;
    CurveTable::Run run;
    for (Epoch t = 1; t <= 9; ++t) {
      run.value.push_back(bonus - 0.1 * (units - 4.0) * (units - 4.0) - 0.5 / std::sqrt(static_cast<double>(t)));
      run.cost.push_back(0.5 + 0.2 * units);
    }
    return run;
  };
  for (std::size_t i = 0; i < table.configs.size(); ++i) {
    table.configs[i] = {{std::int64_t{4}, std::string(i == 0 ? "a" : i == 1 ? "b" : "c")}};
    table.runs[i] = table.at_any(table.configs[i]);
  }
  table.validate();
  return table;
}

// The configurations that were started, in their order.
std::vector<Config> started(const SimulationSummary& summary) {
  std::vector<Config> configs;
  for (const StoredEvent& stored : summary.events) {
    if (const auto* start = std::get_if<TrialStarted>(&stored.event)) configs.push_back(start->config);
  }
  return configs;
}

class PolicyContract : public testing::TestWithParam<std::string> {
 protected:
  SimulationSummary run(const CurveTable& table, const SimulationOptions& options) const {
    const PolicySpec spec = brisk(GetParam());
    return simulate(table, spec, *make_policy(spec), options);
  }
};

TEST_P(PolicyContract, SameHistoryAndSeedGiveTheSameDecisions) {
  const CurveTable table = test::small_table(30, 9);
  EXPECT_EQ(run(table, {.budget = 60.0, .seed = 4, .workers = 2}).events,
            run(table, {.budget = 60.0, .seed = 4, .workers = 2}).events);
}

TEST_P(PolicyContract, AFreshObjectGivesTheSameAnswers) {
  const CurveTable table = test::small_table(30, 9);
  Forgetful forgetful(brisk(GetParam()));
  for (const int workers : {1, 3}) {
    const SimulationOptions options{.budget = 60.0, .seed = 4, .workers = workers};
    EXPECT_EQ(run(table, options).events, simulate(table, brisk(GetParam()), forgetful, options).events)
        << workers << " workers";
  }
}

TEST_P(PolicyContract, SpendsWithinTheBudgetAndTheLedgerSums) {
  for (const int workers : {1, 8}) {
    for (const Cost budget : {0.5, 7.0, 55.0}) {
      const SimulationSummary summary =
          run(test::small_table(40, 9), {.budget = budget, .seed = 1, .workers = workers});
      EXPECT_LE(summary.spent, budget * (1.0 + 1e-9)) << workers << " workers, budget " << budget;
      EXPECT_EQ(test::ledger_sum(summary.events), summary.spent);
      EXPECT_FALSE(summary.end.empty());
    }
  }
}

TEST_P(PolicyContract, SurvivesFailuresAndEndsWhenNothingIsLeft) {
  for (const int workers : {1, 8}) {
    const CurveTable table = hostile_table();
    const SimulationSummary summary = run(table, {.budget = 1e5, .seed = 2, .workers = workers});
    EXPECT_LT(summary.spent, 1e5);
    EXPECT_GT(summary.trials, 0);
  }
}

TEST_P(PolicyContract, FindsTheBestOfASmallTableWithAmpleBudget) {
  const SimulationSummary summary = run(test::small_table(12, 9), {.budget = 1e5, .seed = 3});
  EXPECT_NEAR(summary.regret, 0.0, 1e-12);
}

TEST_P(PolicyContract, SearchesASpaceWithoutAPoolUntilTheBudgetIsSpent) {
  for (const int workers : {1, 4}) {
    const SimulationSummary summary = run(open_table(), {.budget = 90.0, .seed = 5, .workers = workers});
    EXPECT_GT(summary.spent, 90.0 * 0.9) << workers << " workers";
    EXPECT_GT(summary.trials, 3) << workers << " workers";
  }
}

TEST_P(PolicyContract, TrainsNoConfigurationOfAFiniteSpaceTwiceAndMissesNone) {
  for (const int workers : {1, 4}) {
    for (const Cost budget : {45.0, 1e4}) {
      const SimulationSummary summary = run(discrete_table(), {.budget = budget, .seed = 5, .workers = workers});
      const std::vector<Config> configs = started(summary);
      std::size_t different = 0;
      for (auto at = configs.begin(); at != configs.end(); ++at) different += std::find(configs.begin(), at, *at) == at;
      EXPECT_EQ(different, configs.size()) << workers << " workers, budget " << budget;
      EXPECT_TRUE(summary.spent > 0.85 * budget || different == 15U)
          << workers << " workers: " << different << " tried, " << summary.spent << " of " << budget << " spent, "
          << summary.end;
    }
  }
}

// An earlier study with fewer epochs, of which some trials are outside the new range.
std::vector<CurveTable> earlier_study_of(const CurveTable& table) {
  CurveTable earlier = test::small_table(17, 7);
  earlier.name = "earlier";
  earlier.space = Space({{.name = table.space.params().front().name, .domain = RealRange{.low = 0.0, .high = 9.0}}});
  for (std::size_t i = 0; i < earlier.configs.size(); ++i) earlier.configs[i] = {{0.07 * static_cast<double>(i)}};
  if (table.space.params().front().name == "units") {
    for (std::size_t i = 0; i < earlier.configs.size(); ++i) earlier.configs[i] = {{0.5 * static_cast<double>(i)}};
  }
  return {earlier};
}

TEST_P(PolicyContract, AWarmStartKeepsTheLaws) {
  for (const CurveTable& table : {test::small_table(30, 9), open_table(), discrete_table()}) {
    const std::vector<CurveTable> from = earlier_study_of(table);
    const SimulationOptions options{.budget = 60.0, .seed = 4, .workers = 2, .from = from};
    const SimulationSummary summary = run(table, options);
    Forgetful forgetful(brisk(GetParam()));
    EXPECT_EQ(summary.events, simulate(table, brisk(GetParam()), forgetful, options).events);
    EXPECT_LE(summary.spent, 60.0 * (1.0 + 1e-9));
    EXPECT_EQ(test::ledger_sum(summary.events), summary.spent);
    const std::vector<Config> configs = started(summary);
    for (auto at = configs.begin(); at != configs.end(); ++at) EXPECT_EQ(std::find(configs.begin(), at, *at), at);
    const int wanted = static_cast<int>(summary.history->wishes().size());
    EXPECT_GE(wanted, 1);
    for (int i = 0; i < std::min(wanted, summary.trials); ++i) {
      EXPECT_TRUE(summary.history->trials()[static_cast<std::size_t>(i)].assignment.wish) << i;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Policies, PolicyContract, testing::ValuesIn(test::policy_names()), [](const auto& each) {
  return test::as_test_name(each.param);
});

TEST(Registry, NamesTheNearestPolicy) {
  try {
    make_policy({.name = "hyperbnad"});
    FAIL();
  } catch (const std::exception& e) {
    EXPECT_NE(std::string(e.what()).find("did you mean hyperband?"), std::string::npos) << e.what();
  }
}

TEST(Registry, RefusesUnknownOptionsAndValuesOutOfRange) {
  const auto message = [](const PolicySpec& spec) {
    try {
      make_policy(spec);
    } catch (const std::exception& e) {
      return std::string(e.what());
    }
    return std::string("(accepted)");
  };
  EXPECT_NE(message({.name = "hyperband", .options = {{"etta", std::int64_t{3}}}}).find("did you mean eta?"),
            std::string::npos);
  EXPECT_NE(message({.name = "hyperband", .options = {{"eta", std::int64_t{1}}}}).find("an integer from 2 to 10"),
            std::string::npos);
  EXPECT_NE(
      message({.name = "bapi", .options = {{"epsilon", std::string("big")}}}).find("auto or a number from 0 to 1"),
      std::string::npos);
}

}  // namespace
}  // namespace bapi
