#include "bapi/policy/rivals/ms_ei.h"

#include <gtest/gtest.h>

#include <cmath>

#include "bapi/acquisition/tree_search.h"
#include "bapi/policy/candidates.h"
#include "bapi/policy/forecasts.h"
#include "bapi/policy/rivals/full_runs.h"
#include "bapi/tables/simulate.h"
#include "tests/support/finished_runs.h"
#include "tests/support/tables.h"

namespace bapi {
namespace ms_ei_test {

const std::vector<std::size_t> kRows = {3, 17, 33};

PolicySpec spec(const std::string& name, std::map<std::string, Value> options = {}) {
  return {.name = name, .options = std::move(options)};
}

Start answer(const PolicySpec& policy, const History& history) {
  Rng rng(6);
  return std::get<Start>(make_policy(policy)->ask(history, rng));
}

std::vector<StoredEvent> events(const CurveTable& table, const PolicySpec& policy) {
  std::vector<StoredEvent> all =
      simulate(table, {.name = "any"}, *make_policy(policy), {.budget = 250.0, .seed = 3}).events;
  return all;
}

TEST(MultiStepImprovement, WithOneStepIsExpectedImprovement) {
  const CurveTable table = test::small_table(40, 9);
  EXPECT_EQ(events(table, spec("ms-ei", {{"steps", std::int64_t{1}}})), events(table, spec("ei")));
}

TEST(MultiStepImprovement, CapsItsHorizonAtTheRunsThatAreLeft) {
  const CurveTable table = test::small_table(40, 9);
  History history = test::finished_runs(table, spec("ms-ei"), kRows);
  const PolicySpec capped = spec("ms-ei", {{"cap", std::string("count")}});
  EXPECT_EQ(answer(capped, history).why.note(NoteKind::steps_ahead), 4.0);
  // Two full runs of 18 at most.
  StudySpec poor = history.spec();
  poor.budget.limit = history.budget().spent() + 40.0;
  History short_of_budget(poor);
  for (const Trial& trial : history.trials()) {
    short_of_budget.apply(TrialStarted{.trial = trial.id, .config = trial.config, .until = 9});
    for (const Measurement& m : trial.curve.points()) short_of_budget.apply(Measured{trial.id, m});
    short_of_budget.apply(SegmentDone{trial.id});
  }
  EXPECT_EQ(answer(capped, short_of_budget).why.note(NoteKind::steps_ahead), 2.0);
}

TEST(MultiStepImprovement, LooksAtTheWholeTreeOrAtOnePath) {
  const History history = test::finished_runs(test::small_table(40, 3), spec("ms-ei"), kRows);
  EXPECT_EQ(answer(spec("ms-ei"), history).why.note(NoteKind::tree_nodes), 127.0);
  EXPECT_EQ(
      answer(spec("ms-ei", {{"prune", 0.0}, {"starts", std::int64_t{1}}}), history).why.note(NoteKind::tree_nodes),
      211.0);
  EXPECT_EQ(answer(spec("ms-ei-2"), history).why.note(NoteKind::tree_nodes), 7.0);
  for (const char* path : {"mean", "random"}) {
    EXPECT_EQ(answer(spec("ms-ei", {{"fantasies", std::string(path)}}), history).why.note(NoteKind::tree_nodes), 4.0);
  }
}

// Against the best pair of rows by brute force: the tree's second decisions may lie between rows and differ by
// fantasy, so its value is at least that of any pair.
TEST(MultiStepImprovement, FindsABetterTreeThanAnyPairOfRows) {
  const CurveTable table = test::small_table(40, 3);
  const History history = test::finished_runs(table, spec("ms-ei-2"), kRows);
  const Start start = answer(spec("ms-ei-2", {{"prune", 0.0}}), history);
  Rng stream = Rng(6).fork("model");
  const ConfigurationModel model = fit_configurations(Evidence(history), stream);
  const FantasyTree tree({fantasies(gauss_hermite(10))});
  const SearchObjective objective = multi_step_objective(model.gp, tree, model.best);
  double best = -INFINITY;
  for (const Candidate& a : untried_rows(history)) {
    for (const Candidate& b : untried_rows(history)) {
      Vector points = Vector::Constant(tree.nodes(), b.x[0]);
      points[0] = a.x[0];
      best = std::max(best, objective.score(points)[0]);
    }
  }
  EXPECT_GE(start.why.score->log, score_in_metric(model.scale, model.best, best).log - 1e-9);
}

TEST(MultiStepImprovement, FindsAPeakWithFewerRunsThanRandomSearch) {
  const CurveTable table = test::small_table(200, 9);
  const Cost budget = 8.0 * table.mean_full_cost();
  double ahead = 0.0;
  double random = 0.0;
  for (std::uint64_t seed = 0; seed < 5; ++seed) {
    ahead += simulate(table, {}, *make_policy(spec("ms-ei-2")), {.budget = budget, .seed = seed}).regret;
    random += simulate(table, {}, *make_policy(spec("random")), {.budget = budget, .seed = seed}).regret;
  }
  EXPECT_LT(ahead, 0.5 * random);
}

}  // namespace ms_ei_test
}  // namespace bapi
