#include "bapi/policy/rivals/ei.h"

#include <gtest/gtest.h>

#include "bapi/acquisition/improvement.h"
#include "bapi/policy/candidates.h"
#include "bapi/policy/rivals/full_runs.h"
#include "bapi/tables/simulate.h"
#include "tests/support/tables.h"

namespace bapi {
namespace ei_test {

SimulationSummary run(const CurveTable& table, const std::string& policy, Cost budget, std::uint64_t seed) {
  const PolicySpec spec{.name = policy};
  return simulate(table, spec, *make_policy(spec), {.budget = budget, .seed = seed});
}

TEST(ExpectedImprovement, TrainsEverythingToTheEnd) {
  const CurveTable table = test::small_table(30, 9);
  for (const StoredEvent& stored : run(table, "ei", 200.0, 1).events) {
    if (const auto* start = std::get_if<TrialStarted>(&stored.event)) {
      EXPECT_EQ(start->why.shortened_from.value_or(start->until), 9);
    }
  }
}

TEST(ExpectedImprovement, BeginsLikeRandomSearch) {
  const CurveTable table = test::small_table(30, 9);
  const auto first_two = [&](const std::string& policy) {
    std::vector<Config> configs;
    for (const StoredEvent& stored : run(table, policy, 100.0, 7).events) {
      const auto* start = std::get_if<TrialStarted>(&stored.event);
      if (start && configs.size() < 2) configs.push_back(start->config);
    }
    return configs;
  };
  EXPECT_EQ(first_two("ei"), first_two("random"));
}

TEST(ExpectedImprovement, TakesTheRowWithTheLargestImprovement) {
  const CurveTable table = test::small_table(40, 3);
  const PolicySpec spec{.name = "ei"};
  History history(study_of(table, 1e6, spec, 1, 1));
  for (const std::size_t row : {3U, 17U, 33U}) {
    const TrialId id{std::ssize(history.trials())};
    history.apply(TrialStarted{.trial = id, .config = table.configs[row], .until = 3});
    for (Epoch t = 1; t <= 3; ++t) {
      history.apply(Measured{id, {t, table.runs[row].value[static_cast<std::size_t>(t) - 1], 1.0}});
    }
    history.apply(SegmentDone{id});
  }
  Rng rng(6);
  const Start start = std::get<Start>(ExpectedImprovement(spec).ask(history, rng));
  Rng stream = Rng(6).fork("model");
  const ConfigurationModel model = fit_configurations(Evidence(history), stream);
  const auto improvement = [&](const Config& config) {
    const Moments at = model.gp.predict(Rows::at_configurations(history.spec().space.encode(config).transpose()));
    return log_expected_improvement(at.mean[0], std::sqrt(at.variance[0]), model.best);
  };
  for (const Candidate& other : untried_rows(history)) {
    EXPECT_LE(improvement(other.config), improvement(start.config) + 1e-9);
  }
}

TEST(ExpectedImprovement, FindsAPeakWithFewerRunsThanRandomSearch) {
  const CurveTable table = test::small_table(200, 9);
  const Cost budget = 8.0 * table.mean_full_cost();
  double ei = 0.0;
  double random = 0.0;
  for (std::uint64_t seed = 0; seed < 5; ++seed) {
    ei += run(table, "ei", budget, seed).regret;
    random += run(table, "random", budget, seed).regret;
  }
  EXPECT_LT(ei, 0.5 * random);
}

}  // namespace ei_test
}  // namespace bapi
