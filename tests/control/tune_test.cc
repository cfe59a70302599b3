#include "bapi/control/tune.h"

#include <gtest/gtest.h>

#include <limits>
#include <numeric>

#include "bapi/policy/registry.h"
#include "bapi/store/memory_store.h"
#include "bapi/tables/simulate.h"
#include "bapi/tables/table_evaluator.h"
#include "tests/support/ledger.h"
#include "tests/support/tables.h"

namespace bapi {
namespace {

SimulationSummary run(const CurveTable& table, const std::string& policy, const SimulationOptions& options) {
  const PolicySpec spec{.name = policy};
  return simulate(table, spec, *make_policy(spec), options);
}

TEST(Tune, SpendsTheWholeBudgetAndNoMore) {
  for (const int workers : {1, 3, 8}) {
    for (const char* policy : {"random", "hyperband"}) {
      const SimulationSummary summary =
          run(test::small_table(200), policy, {.budget = 100.0, .seed = 5, .workers = workers});
      EXPECT_NEAR(summary.spent, 100.0, 1e-9) << policy << " with " << workers;
      EXPECT_EQ(test::ledger_sum(summary.events), summary.spent);
      EXPECT_EQ(summary.end, "the budget is spent");
    }
  }
}

TEST(Tune, SameSeedGivesTheSameLog) {
  const CurveTable table = test::small_table(50);
  EXPECT_EQ(run(table, "hyperband", {.budget = 80.0, .seed = 9, .workers = 3}).events,
            run(table, "hyperband", {.budget = 80.0, .seed = 9, .workers = 3}).events);
  EXPECT_NE(run(table, "hyperband", {.budget = 80.0, .seed = 9}).events,
            run(table, "hyperband", {.budget = 80.0, .seed = 10}).events);
}

TEST(Tune, FinishesWhenEveryConfigurationHasBeenTried) {
  const SimulationSummary summary = run(test::small_table(4), "random", {.budget = 1e6, .seed = 1});
  EXPECT_EQ(summary.trials, 4);
  EXPECT_EQ(summary.end, "every configuration has been tried");
  EXPECT_NEAR(summary.regret, 0.0, 1e-12);
}

TEST(Tune, FailedRunsArePaidForAndTheSearchGoesOn) {
  CurveTable table = test::small_table(10);
  for (std::size_t i = 0; i < 5; ++i) table.runs[i].value[2] = std::numeric_limits<double>::quiet_NaN();
  const SimulationSummary summary = run(table, "random", {.budget = 1e6, .seed = 1});
  EXPECT_EQ(summary.trials, 10);
  int failed = 0;
  for (const StoredEvent& stored : summary.events) failed += std::holds_alternative<TrialFailed>(stored.event) ? 1 : 0;
  EXPECT_EQ(failed, 5);
  EXPECT_EQ(test::ledger_sum(summary.events), summary.spent);
}

TEST(Tune, TooManyFailuresInARowEndTheStudyWithAdvice) {
  CurveTable table = test::small_table(10);
  for (CurveTable::Run& r : table.runs) r.value[0] = std::numeric_limits<double>::quiet_NaN();
  const PolicySpec policy_spec{.name = "random"};
  StudySpec spec = study_of(table, 1e6, policy_spec, 1, 1);
  spec.max_failures = 3;
  MemoryStore store(spec);
  ManualClock clock;
  const auto policy = make_policy(policy_spec);
  Session session(store, *policy, clock);
  TableEvaluator evaluator(table, spec, clock);
  TuneOptions options;
  options.tick = 1e300;
  const TuneSummary summary = tune(session, evaluator, clock, options);
  EXPECT_EQ(summary.end, TuneEnd::too_many_failures);
  EXPECT_NE(summary.reason.find("3 trials in a row"), std::string::npos);
  EXPECT_NE(summary.reason.find("bapi doctor"), std::string::npos);
  EXPECT_FALSE(session.history().finished());
}

TEST(Tune, DeadlineEndsTheStudy) {
  const CurveTable table = test::small_table(50);
  const PolicySpec policy_spec{.name = "random"};
  StudySpec spec = study_of(table, 1e6, policy_spec, 1, 2);
  spec.deadline = 25.0;
  MemoryStore store(spec);
  ManualClock clock;
  const auto policy = make_policy(policy_spec);
  Session session(store, *policy, clock);
  TableEvaluator evaluator(table, spec, clock);
  TuneOptions options;
  options.tick = 1e300;
  EXPECT_EQ(tune(session, evaluator, clock, options).reason, "the deadline is reached");
  EXPECT_NEAR(clock.now(), 25.0, 1e-9);
  EXPECT_NEAR(session.history().budget().spent(), 50.0, 1e-9);  // two workers
}

TEST(Tune, RaisedBudgetContinuesWhereTheSmallerOneEnded) {
  const CurveTable table = test::small_table(50);
  const PolicySpec policy_spec{.name = "hyperband"};
  MemoryStore store(study_of(table, 60.0, policy_spec, 1, 1));
  ManualClock clock;
  TuneOptions options;
  options.tick = 1e300;
  const auto run_on = [&] {
    const auto policy = make_policy(policy_spec);
    Session session(store, *policy, clock);
    TableEvaluator evaluator(table, store.spec(), clock);
    tune(session, evaluator, clock, options);
    return session.history().budget().spent();
  };
  EXPECT_NEAR(run_on(), 60.0, 1e-9);
  store.append(std::ssize(store.events(0)), std::vector<Event>{BudgetChanged{100.0}}, clock.now(), Durability::power);
  EXPECT_NEAR(run_on(), 100.0, 1e-9);
}

// Trace T9: two workers, jobs A 4, B 1, C 2, D 3, E 1, controller overhead 0 and 0.5 per start.
TEST(TableEvaluator, SerialControllerQueuesStarts) {
  const std::vector<double> lengths = {4, 1, 2, 3, 1};
  CurveTable table = test::table_of(5, 1, [](double, Epoch) { return 1.0; });
  for (std::size_t i = 0; i < 5; ++i) table.runs[i].cost[0] = lengths[i];
  const auto ends = [&](Cost overhead) {
    ManualClock clock;
    StudySpec spec = study_of(table, 1e6, {.name = "random"}, 1, 2);
    TableEvaluator evaluator(table, spec, clock, {.overhead = [overhead] { return overhead; }});
    std::vector<double> end(5);
    std::size_t next = 0;
    int running = 0;
    const auto fill = [&] {
      for (; running < 2 && next < 5; ++next, ++running) {
        evaluator.start({.trial = TrialId{static_cast<std::int64_t>(next)},
                         .config = table.configs[next],
                         .from = 0,
                         .until = 1,
                         .max_epoch = 1,
                         .budget_left = 0.0});
      }
    };
    fill();
    while (running > 0) {
      for (const Event& fact : evaluator.wait(1e9)) {
        if (const auto* done = std::get_if<SegmentDone>(&fact)) {
          end[static_cast<std::size_t>(index(done->trial))] = clock.now();
          --running;
          evaluator.release(done->trial);
        }
      }
      fill();
    }
    return end;
  };
  EXPECT_EQ(ends(0.0), (std::vector<double>{4, 1, 3, 6, 5}));
  EXPECT_EQ(ends(0.5), (std::vector<double>{4.5, 2, 4.5, 8, 6.5}));
}

TEST(TableEvaluator, ResumedCostsTelescopeToTheCostOfTheWholeRun) {
  const CurveTable table = test::small_table(30, 27);
  const SimulationSummary summary = run(table, "hyperband", {.budget = 700.0, .seed = 2});
  History history(study_of(table, 700.0, {.name = "hyperband"}, 2, 1));
  for (const StoredEvent& stored : summary.events) history.apply(stored.event);
  int completed = 0;
  for (const Trial& trial : history.trials()) {
    if (trial.state != TrialState::completed) continue;
    ++completed;
    const std::vector<double>& cost = table.runs[static_cast<std::size_t>(trial.pool_row)].cost;
    EXPECT_NEAR(trial.spent(), std::accumulate(cost.begin(), cost.end(), 0.0), 1e-9);
  }
  EXPECT_GT(completed, 0);
}

}  // namespace
}  // namespace bapi
