#include "bapi/compare/run_comparison.h"

#include <gtest/gtest.h>

#include "bapi/base/error.h"
#include "bapi/compare/anytime.h"
#include "bapi/compare/standings.h"
#include "small_comparison.h"

namespace bapi {
namespace {

using testing::Directory;
using testing::small_comparison;
using testing::without_times;

std::vector<RunRecord> run_with(const Comparison& comparison, const RunComparisonOptions& options) {
  const Directory directory;
  RunLog log(directory.path(), comparison);
  EXPECT_EQ(run_comparison(comparison, log, options), ComparisonEnd::finished);
  return without_times(records_of(comparison, log));
}

TEST(RunComparison, GivesTheSameOnOneThreadAndOnSeveral) {
  Comparison comparison = small_comparison();
  comparison.policies.push_back({"bohb", {.name = "bohb"}});
  const std::vector<RunRecord> alone = run_with(comparison, {.jobs = 1});
  EXPECT_EQ(run_with(comparison, {.jobs = 2}), alone);
  EXPECT_EQ(run_with(comparison, {.jobs = 7}), alone);
  EXPECT_EQ(run_with(comparison, {.jobs = 1'000'000}), alone);
}

TEST(RunComparison, DoesOnlyWhatIsMissing) {
  const Directory directory;
  Comparison comparison = small_comparison();
  comparison.seeds = 1;
  {
    RunLog log(directory.path(), comparison);
    run_comparison(comparison, log, {});
  }
  comparison.seeds = 2;
  comparison.policies.push_back({"top", {.name = "top-k"}});
  int finished = 0;
  ComparisonProgress last;
  RunLog log(directory.path(), comparison);
  run_comparison(comparison, log, {.observer = [&](const ComparisonProgress& progress) {
                   ++finished;
                   last = progress;
                 }});
  EXPECT_EQ(last.total, 2 * 4 * 2 * 2);
  EXPECT_EQ(last.kept, 2 * 3 * 2 * 1);
  EXPECT_EQ(last.done, last.total);
  EXPECT_EQ(finished, last.total - last.kept);
  EXPECT_EQ(last.seconds_left, 0.0);
  EXPECT_EQ(without_times(records_of(comparison, log)), run_with(comparison, {}));
}

TEST(RunComparison, SeedsCountFromTheFirstOne) {
  Comparison comparison = small_comparison();
  comparison.seeds = 3;
  const std::vector<RunRecord> all = run_with(comparison, {});
  comparison.seeds = 2;
  comparison.first_seed = 1;
  std::vector<RunRecord> later;
  std::copy_if(
      all.begin(), all.end(), std::back_inserter(later), [](const RunRecord& run) { return run.key.seed > 0; });
  EXPECT_EQ(run_with(comparison, {}), later);
}

TEST(RunComparison, InterruptedAfterAnyRunGoesOnToTheSameEnd) {
  const Comparison comparison = small_comparison();
  const std::vector<RunRecord> undisturbed = run_with(comparison, {});
  for (int after = 1; after < 24; after += 5) {
    const Directory directory;
    std::atomic<bool> stop = false;
    {
      RunLog log(directory.path(), comparison);
      const auto end = run_comparison(comparison, log, {.interrupt = &stop, .observer = [&](const auto& progress) {
                                                          stop = progress.done >= after;
                                                        }});
      EXPECT_EQ(end, ComparisonEnd::interrupted);
      EXPECT_EQ(std::ssize(log.finished()), after);
    }
    RunLog log(directory.path(), comparison);
    run_comparison(comparison, log, {});
    EXPECT_EQ(without_times(records_of(comparison, log)), undisturbed);
  }
}

TEST(RunComparison, OfAPolicyWithItselfEndsInATie) {
  Comparison comparison = small_comparison();
  comparison.policies = {{"one", {.name = "random"}}, {"two", {.name = "random"}}};
  const std::vector<RunRecord> records = run_with(comparison, {.jobs = 2});
  for (const Ranking& ranking : rankings_of(comparison, records)) {
    for (const PolicyStanding& standing : ranking.standings) EXPECT_EQ(standing.rank.mean, 1.5);
    EXPECT_EQ(ranking.duels.front().ties, 2);
    EXPECT_EQ(ranking.duels.front().adjusted_p, 1.0);
  }
}

TEST(RunComparison, NeverSpendsMoreThanTheBudgetAndEndsOnTheTrajectory) {
  const Comparison comparison = small_comparison();
  for (const RunRecord& run : run_with(comparison, {})) {
    EXPECT_GE(run.regret, 0.0);
    ASSERT_FALSE(run.trajectory.empty());
    EXPECT_LE(run.trajectory.back().first, 1.0 + 1e-9);
    EXPECT_NEAR(run.trajectory.back().second, run.normalised_regret, 1e-12);
    for (std::size_t i = 1; i < run.trajectory.size(); ++i) {
      EXPECT_LT(run.trajectory[i].second, run.trajectory[i - 1].second);
    }
  }
}

TEST(RunComparison, ChargesDecisionsOnlyWhereCostIsTime) {
  Comparison comparison = small_comparison();
  comparison.overhead = OverheadCharge::measured;
  // Epochs as cheap as a decision: what decisions cost then shows.
  for (CurveTable& table : comparison.tables) {
    for (CurveTable::Run& run : table.runs) {
      for (double& cost : run.cost) cost *= 1e-7;
    }
  }
  comparison.tables[0].cost_unit = "s";
  comparison.tables[1].cost_unit = "epochs";
  const auto free_of_charge = [&](const std::string& table) {
    const RunKey key{.table = table, .policy = "random", .budget = "5full", .workers = 1, .seed = 0};
    Comparison none = comparison;
    none.overhead = OverheadCharge::none;
    const auto with = run_of(key, comparison);
    const auto without = run_of(key, none);
    return with->decisions == without->decisions && with->trajectory == without->trajectory;
  };
  EXPECT_FALSE(free_of_charge("rising"));
  EXPECT_TRUE(free_of_charge("crossing"));
}

TEST(RunComparison, ChargesModelledDecisionsTheSameEveryTime) {
  Comparison comparison = small_comparison();
  for (CurveTable& table : comparison.tables) table.cost_unit = "s";
  const std::vector<RunRecord> free_of_charge = run_with(comparison, {});
  comparison.overhead = OverheadCharge::modelled;
  EXPECT_THROW(comparison.validate(), InvalidInput);

  for (const ComparedPolicy& policy : comparison.policies) comparison.models[policy.label] = {};
  EXPECT_EQ(run_with(comparison, {}), free_of_charge);
  const Cost full = parse_table_budget("1full").on(comparison.tables[0]);
  for (auto& [label, model] : comparison.models) model = {.fixed = 0.5 * full, .scale = 0.01 * full, .power = 1.0};
  const std::vector<RunRecord> charged = run_with(comparison, {});
  EXPECT_EQ(run_with(comparison, {}), charged);
  // Decisions take half of what a full run takes, or more, so that the budget pays for fewer.
  for (std::size_t i = 0; i < charged.size(); ++i) EXPECT_LT(charged[i].decisions, free_of_charge[i].decisions);
}

TEST(RunComparison, SaysThatInputIsWrongNotThatTheProgramIs) {
  Comparison comparison = small_comparison();
  for (CurveTable::Run& run : comparison.tables[1].runs) run.cost.assign(run.cost.size(), 0.0);
  EXPECT_THROW(comparison.validate(), InvalidInput);
  const Directory directory;
  RunLog log(directory.path(), comparison);
  EXPECT_THROW(run_comparison(comparison, log, {}), InvalidInput);
}

TEST(RunComparison, ARunWithoutAResultCountsTheSameEverywhere) {
  Comparison comparison = small_comparison();
  comparison.budgets = {parse_table_budget("1e-3")};  // less than an epoch
  const std::vector<RunRecord> records = run_with(comparison, {});
  for (const RunRecord& run : records) {
    EXPECT_EQ(run.final, std::nullopt);
    EXPECT_EQ(run.normalised_regret, kRegretCap);
    EXPECT_EQ(anytime_regret(run).back(), kRegretCap);
  }
  for (const PolicyStanding& standing : rankings_of(comparison, records).front().standings) {
    EXPECT_EQ(standing.regret.mean, kRegretCap);
  }
}

TEST(RunComparison, WithoutCheckpointsHalvingPaysForEpochsAgainAndFullRunsDoNot) {
  Comparison comparison = small_comparison();
  const std::vector<RunRecord> kept = run_with(comparison, {});
  comparison.checkpoint = Checkpoint::none;
  const std::vector<RunRecord> none = run_with(comparison, {});
  int fewer = 0;
  for (std::size_t i = 0; i < kept.size(); ++i) {
    if (kept[i].key.policy == "random") {
      EXPECT_EQ(none[i], kept[i]);
    }
    if (kept[i].key.policy == "halving") fewer += none[i].decisions < kept[i].decisions ? 1 : 0;
  }
  EXPECT_GT(fewer, 0);
}

TEST(RunComparison, GathersCalibrationOfPoliciesThatForecast) {
  Comparison comparison = small_comparison();
  comparison.policies.push_back({"bapi", {.name = "bapi"}});
  const auto run = [&](const std::string& policy) {
    return *run_of({.table = "rising", .policy = policy, .budget = "5full", .workers = 1, .seed = 0}, comparison);
  };
  EXPECT_EQ(run("random").calibration.value.count, 0);
  const Coverage coverage = run("bapi").calibration.value;
  EXPECT_GT(coverage.count, 0);
  EXPECT_LE(coverage.within_50, coverage.within_80);
  EXPECT_LE(coverage.within_80, coverage.within_95);
}

}  // namespace
}  // namespace bapi
