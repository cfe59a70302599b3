#include "bapi/policy/rivals/step_by_step.h"

#include <gtest/gtest.h>

#include "bapi/tables/simulate.h"
#include "tests/support/tables.h"

namespace bapi {
namespace {

class StepByStepTest : public testing::TestWithParam<std::string> {
 protected:
  SimulationSummary run(const CurveTable& table, Cost budget, std::uint64_t seed) const {
    const PolicySpec spec{.name = GetParam()};
    return simulate(table, spec, *make_policy(spec), {.budget = budget, .seed = seed});
  }
};

TEST_P(StepByStepTest, TrainsFromRungToRung) {
  const CurveTable table = test::small_table(20, 20);
  std::map<std::int64_t, Epoch> at;
  for (const StoredEvent& stored : run(table, 300.0, 1).events) {
    if (const auto* start = std::get_if<TrialStarted>(&stored.event)) {
      EXPECT_EQ(start->until, 2);
      at[index(start->trial)] = start->until;
    }
    const auto* resume = std::get_if<TrialResumed>(&stored.event);
    if (resume && !resume->why.shortened_from) {
      EXPECT_EQ(resume->until, std::min(20, 2 * at.at(index(resume->trial))));
      at[index(resume->trial)] = resume->until;
    }
  }
  EXPECT_GT(at.size(), 2U);
}

TEST_P(StepByStepTest, BeginsWithTheDesignOfBapi) {
  const CurveTable table = test::small_table(20, 20);
  const auto first_starts = [&](const std::string& policy) {
    const PolicySpec spec{.name = policy};
    std::vector<TrialStarted> starts;
    for (const StoredEvent& stored : simulate(table, spec, *make_policy(spec), {.budget = 100.0, .seed = 3}).events) {
      const auto* start = std::get_if<TrialStarted>(&stored.event);
      if (start && starts.size() < 2) starts.push_back(*start);
    }
    return starts;
  };
  EXPECT_EQ(first_starts(GetParam()), first_starts("bapi"));
}

TEST_P(StepByStepTest, BeatsRandomSearchOnSmoothCurves) {
  const CurveTable table = test::small_table(100, 20);
  const Cost budget = 4.0 * table.mean_full_cost();
  const PolicySpec random{.name = "random"};
  double own = 0.0;
  double yardstick = 0.0;
  for (std::uint64_t seed = 0; seed < 4; ++seed) {
    own += run(table, budget, seed).regret;
    yardstick += simulate(table, random, *make_policy(random), {.budget = budget, .seed = seed}).regret;
  }
  EXPECT_LT(own, yardstick);
}

INSTANTIATE_TEST_SUITE_P(Policies, StepByStepTest, testing::Values("freeze-thaw", "dyhpo"), [](const auto& each) {
  return each.param == "dyhpo" ? "dyhpo" : "freeze_thaw";
});

TEST(FreezeThaw, DrawsItsHorizonAndItsThresholdAnew) {
  const CurveTable table = test::small_table(20, 20);
  const PolicySpec spec{.name = "freeze-thaw"};
  std::set<double> horizons;
  for (const StoredEvent& stored : simulate(table, spec, *make_policy(spec), {.budget = 300.0, .seed = 1}).events) {
    const auto* resume = std::get_if<TrialResumed>(&stored.event);
    if (!resume) continue;
    const double horizon = resume->why.note(NoteKind::epochs_ahead).value_or(0.0);
    EXPECT_GE(horizon, 1.0);
    EXPECT_LE(horizon, 20.0);
    EXPECT_GT(resume->why.forecast->target, resume->why.forecast->incumbent);
    horizons.insert(horizon);
  }
  EXPECT_GT(horizons.size(), 3U);
}

TEST(BestByEpoch, ComparesTrialsThatWereTrainedAsFar) {
  const CurveTable table = test::small_table(20, 20);
  History history(study_of(table, 1e6, {.name = "dyhpo"}, 1, 1));
  const auto run = [&](const std::vector<double>& values) {
    const TrialId id{std::ssize(history.trials())};
    history.apply(TrialStarted{.trial = id,
                               .config = table.configs[static_cast<std::size_t>(index(id))],
                               .until = static_cast<Epoch>(values.size())});
    for (std::size_t i = 0; i < values.size(); ++i) {
      history.apply(Measured{id, {static_cast<Epoch>(i) + 1, values[i], 1.0}});
    }
    history.apply(SegmentDone{id});
  };
  run({0.1, 0.5, 0.2, 0.3});
  run({0.4});
  EXPECT_EQ(best_by_epoch(history, 1), 0.4);
  EXPECT_EQ(best_by_epoch(history, 2), 0.5);
  EXPECT_EQ(best_by_epoch(history, 4), 0.5);  // the best model so far is kept
  EXPECT_EQ(best_by_epoch(history, 8), 0.5);
}

}  // namespace
}  // namespace bapi
