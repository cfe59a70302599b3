#include "bapi/policy/models.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

namespace bapi {
namespace {

// Trials at random x in the unit square, each paused after 8 of 16 epochs that cost 1 + x0 + x1.
History paused_trials(int trials) {
  StudySpec spec{.name = "many"};
  spec.budget = {.limit = 1e9, .meter = Meter::reported};
  spec.epochs = {.min = 1, .max = 16};
  spec.space = Space({{.name = "a", .domain = RealRange{}}, {.name = "b", .domain = RealRange{}}});
  History history(spec);
  Rng rng(1);
  for (int i = 0; i < trials; ++i) {
    const TrialId id{i};
    const Config config = spec.space.sample(rng);
    const Vector x = spec.space.encode(config);
    history.apply(TrialStarted{.trial = id, .config = config, .until = 8});
    for (Epoch t = 1; t <= 8; ++t) {
      history.apply(Measured{id, {t, x[0] - (x[1] - 0.5) * (x[1] - 0.5) - 1.0 / t, 1.0 + x.sum()}});
    }
    history.apply(SegmentDone{id});
  }
  return history;
}

TEST(Models, OfThousandsOfTrialsKeepToTheirRowsAndTheBestOfThem) {
  const History history = paused_trials(2000);
  const ModelOptions options{.curves = {.max_rows = 120, .fit_rows = 40}};
  Rng rng(2);
  const Models models = fit_models(Evidence(history), options, rng);
  EXPECT_EQ(models.surrogate->rows().size(), 120);
  double best = -1e9;
  for (const Trial& trial : history.trials()) best = std::max(best, trial.curve.best());
  EXPECT_NEAR(history.in_user_units(models.scale.undo(models.best)), best, 1e-9);
}

TEST(Models, KnowCostsFromAPartOfTheTrials) {
  const History history = paused_trials(400);
  const ModelOptions options{.curves = {.max_rows = 40, .fit_rows = 40}, .cost_trials = 50};
  Rng rng(3);
  const Models models = fit_models(Evidence(history), options, rng);
  for (const Vector& x : {Vector{{0.2, 0.3}}, Vector{{0.9, 0.1}}, Vector{{0.7, 0.8}}}) {
    EXPECT_NEAR(models.cost.between(x, 0, 16), 16.0 * (1.0 + x.sum()), 0.05 * 16.0 * (1.0 + x.sum()));
  }
}

// How many rows each trial has in the model, and the last epoch among them.
std::map<int, std::pair<int, Epoch>> rows_by_trial(const Models& models) {
  std::map<int, std::pair<int, Epoch>> rows;
  for (std::size_t i = 0; i < models.surrogate->rows().group.size(); ++i) {
    auto& [count, last] = rows[models.surrogate->rows().group[i]];
    ++count;
    last = std::max(last, models.surrogate->rows().epoch[i]);
  }
  return rows;
}

TEST(Models, GreedyPointsAreAtMostThreeOfACurveTheLastAmongThem) {
  const History history = paused_trials(12);
  Rng rng(4);
  const auto rows = rows_by_trial(fit_models(Evidence(history), {.curves = {.points = PointRule::greedy}}, rng));
  ASSERT_EQ(rows.size(), 12U);
  int most = 0;
  for (const auto& [trial, of] : rows) {
    EXPECT_LE(of.first, 3) << trial;
    EXPECT_EQ(of.second, 8) << trial;
    most = std::max(most, of.first);
  }
  EXPECT_GT(most, 1);
}

TEST(Models, LastPointsAreOneOfACurve) {
  const History history = paused_trials(12);
  Rng rng(5);
  const auto rows = rows_by_trial(fit_models(Evidence(history), {.curves = {.points = PointRule::last}}, rng));
  ASSERT_EQ(rows.size(), 12U);
  for (const auto& [trial, of] : rows) EXPECT_EQ(of, (std::pair<int, Epoch>{1, 8})) << trial;
}

// What a failed trial has reported stands, and nothing is made up for the rest of it: the forecast next to it is what
// its neighbours say.
TEST(Models, AFailureMovesNoForecast) {
  History history = paused_trials(10);
  const Config beside = history.trial(TrialId{3}).config;
  const auto at = [&](const Models& models) {
    const Vector x = history.spec().space.encode(beside) + Vector{{0.001, -0.001}};
    return history.in_user_units(
        models.scale.undo(models.surrogate->predict(Rows::of_curve(x, {16}, 16, 100)).mean[0]));
  };
  Rng rng(6);
  const double before = at(fit_models(Evidence(history), {}, rng));
  history.apply(TrialStarted{.trial = TrialId{10}, .config = {{0.99, 0.01}}, .until = 8});
  history.apply(Measured{TrialId{10}, {1, 0.2, 2.0}});
  history.apply(TrialFailed{.trial = TrialId{10}, .message = "diverged"});
  const Vector x = history.spec().space.encode(beside);
  const Config near{{x[0] + 0.002, x[1]}};
  history.apply(TrialStarted{.trial = TrialId{11}, .config = near, .until = 8});
  history.apply(TrialFailed{.trial = TrialId{11}, .message = "crashed"});
  const Models models = fit_models(Evidence(history), {}, rng);
  const Rows& rows = models.surrogate->rows();
  for (std::size_t i = 0; i < rows.group.size(); ++i) {
    if (rows.group[i] < 10) continue;
    EXPECT_EQ(rows.group[i], 10);
    EXPECT_EQ(rows.epoch[i], 1);
    EXPECT_NEAR(
        history.in_user_units(models.scale.undo(models.surrogate->y()[static_cast<Eigen::Index>(i)])), 0.2, 1e-9);
  }
  EXPECT_NEAR(at(models), before, 0.02);
  EXPECT_TRUE(std::isfinite(models.cost.between(Vector{{0.99, 0.01}}, 0, 16)));
}

}  // namespace
}  // namespace bapi
