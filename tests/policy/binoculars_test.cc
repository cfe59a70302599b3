#include "bapi/policy/rivals/binoculars.h"

#include <gtest/gtest.h>

#include <cmath>

#include "bapi/tables/simulate.h"
#include "tests/support/finished_runs.h"
#include "tests/support/tables.h"

namespace bapi {
namespace {

PolicySpec spec(std::map<std::string, Value> options = {}) {
  return {.name = "binoculars", .options = std::move(options)};
}

TEST(Binoculars, WithABatchOfOneIsExpectedImprovement) {
  const CurveTable table = test::small_table(40, 9);
  const auto events = [&](const PolicySpec& policy) {
    return simulate(table, {.name = "any"}, *make_policy(policy), {.budget = 250.0, .seed = 3}).events;
  };
  EXPECT_EQ(events(spec({{"q", std::int64_t{1}}})), events({.name = "ei"}));
}

TEST(Binoculars, DrawsInProportionToTheImprovements) {
  const Vector weights = Eigen::Vector4d(0.1, 0.4, 0.0, 0.5);
  Vector counts = Vector::Zero(4);
  Rng rng(1);
  const int n = 100000;
  for (int i = 0; i < n; ++i) counts[draw_in_proportion(weights.array().log(), rng)] += 1.0;
  for (int i = 0; i < 4; ++i) {
    EXPECT_NEAR(counts[i] / n, weights[i], 4.0 * std::sqrt(weights[i] * (1.0 - weights[i]) / n));
  }
}

TEST(Binoculars, DrawsFromAllWhenNothingPromisesAnything) {
  Vector counts = Vector::Zero(3);
  Rng rng(2);
  for (int i = 0; i < 3000; ++i) counts[draw_in_proportion(Vector::Constant(3, -INFINITY), rng)] += 1.0;
  EXPECT_GT(counts.minCoeff(), 900.0);
}

TEST(Binoculars, BestIsNeverBehindADrawFromTheSameBatch) {
  const History history = test::finished_runs(test::small_table(400, 3), spec(), {30, 170, 390});
  const auto answer = [&](const char* pick, std::uint64_t seed) {
    Rng rng(seed);
    const PolicySpec policy = spec({{"pick", std::string(pick)}});
    return std::get<Start>(make_policy(policy)->ask(history, rng)).why;
  };
  int behind = 0;
  for (std::uint64_t seed = 0; seed < 6; ++seed) {
    const Reason best = answer("best", seed);
    const Reason drawn = answer("sample", seed);
    EXPECT_EQ(best.note(NoteKind::log_batch_score), drawn.note(NoteKind::log_batch_score));
    EXPECT_GE(best.score->log, drawn.score->log);
    if (best.score->log > drawn.score->log) ++behind;
  }
  EXPECT_GT(behind, 0);
}

TEST(Binoculars, FindsAPeakWithFewerRunsThanRandomSearch) {
  const CurveTable table = test::small_table(200, 9);
  const Cost budget = 12.0 * table.mean_full_cost();
  const PolicySpec quick = spec({{"draws", std::int64_t{64}}, {"starts", std::int64_t{4}}});
  double batch = 0.0;
  double random = 0.0;
  for (std::uint64_t seed = 0; seed < 5; ++seed) {
    batch += simulate(table, {}, *make_policy(quick), {.budget = budget, .seed = seed}).regret;
    random += simulate(table, {}, *make_policy({.name = "random"}), {.budget = budget, .seed = seed}).regret;
  }
  EXPECT_LT(batch, 0.5 * random);
}

}  // namespace
}  // namespace bapi
