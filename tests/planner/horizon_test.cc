#include "bapi/planner/horizon.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <thread>

#include "bapi/base/error.h"
#include "bapi/gp/monotone_gp.h"
#include "tests/support/curves.h"

namespace bapi {
namespace horizon_test {

constexpr Epoch kMaxEpoch = 50;

struct Setting {
  curves::Data data;
  ExactGp gp;
};

Setting setting(std::uint64_t seed) {
  Rng rng(seed);
  curves::Data data = curves::simulate(10, 2, kMaxEpoch, rng);
  ExactGp gp = curves::fitted(data, TimeKind::exponential_decay, rng);
  return {std::move(data), std::move(gp)};
}

HorizonProblem problem(const Setting& s, Cost budget) {
  return {.model = s.gp,
          .best = s.data.y.maxCoeff(),
          .min_epoch = 1,
          .max_epoch = kMaxEpoch,
          .epsilon = 0.05,
          .budget = budget,
          .cost = [](const Vector&, Epoch done, Epoch until) { return static_cast<Cost>(until - done); },
          .candidates = {},
          .pending = {}};
}

Horizon plan(const HorizonProblem& problem,
             const HorizonOptions& options,
             Rng& rng,
             Monotonicity monotone = Monotonicity::on) {
  const SlopeConstraint slopes = slope_constraint(problem.model, problem.min_epoch, {.monotone = monotone});
  return plan_horizon(problem, options, slopes, rng);
}

HorizonOptions quick() {
  HorizonOptions options;
  options.draws = 64;
  options.search.raw_points = 64;
  options.search.starts = 3;
  return options;
}

Cost total(const Horizon& horizon) {
  Cost sum = 0.0;
  for (const PlannedRun& run : horizon.runs) sum += run.cost;
  return sum;
}

// Budget-adaptive horizon of the paper: only points that the budget pays for.
TEST(Horizon, ShrinksWithTheBudgetAndNeverPassesIt) {
  const Setting s = setting(1);
  std::size_t last = 100;
  for (const Cost budget : {1000.0, 110.0, 60.0, 20.0, 5.0, 0.5}) {
    Rng rng(2);
    const Horizon horizon = plan(problem(s, budget), quick(), rng);
    EXPECT_LE(total(horizon), budget);
    EXPECT_NEAR(horizon.budget_left, budget - total(horizon), 1e-9);
    EXPECT_LE(horizon.runs.size(), last);
    last = horizon.runs.size();
    if (budget == 1000.0) {
      EXPECT_EQ(horizon.runs.size(), 4u);
    }
    if (budget == 0.5) {
      EXPECT_TRUE(horizon.empty());
    }
  }
}

TEST(Horizon, ShortensTheOnlyRunThatDoesNotFit) {
  const Setting s = setting(3);
  Rng rng(4);
  const Horizon whole = plan(problem(s, 1000.0), quick(), rng);
  ASSERT_FALSE(whole.empty());
  ASSERT_GT(whole.runs[0].until, 3);
  const Horizon part = plan(problem(s, 3.4), quick(), rng);
  ASSERT_EQ(part.runs.size(), 1u);
  EXPECT_EQ(part.next().until, 3);
  EXPECT_TRUE(part.next().shortened);
  EXPECT_EQ(part.end, HorizonEnd::budget_spent);
}

TEST(Horizon, PrefersACheapResumedRunToAnEqualNewOne) {
  const Setting s = setting(5);
  HorizonProblem p = problem(s, 1000.0);
  p.new_points = NewPoints::none;
  // The same unseen configuration twice: one of them has paid for its first 20 epochs.
  const Vector x = Vector::Constant(2, 0.45);
  p.candidates = {{x, -1, 0}, {x, -2, 20}};
  p.epsilon = 0.0;  // both run to the end
  Rng rng(6);
  const Horizon horizon = plan(p, quick(), rng);
  ASSERT_EQ(horizon.runs.size(), 2u);
  EXPECT_EQ(horizon.next().candidate, 1);
  EXPECT_EQ(horizon.next().cost, 30.0);
}

// A long list of which all but the least promising have flattened out: that one still gets its turn.
TEST(Horizon, OthersMoveUpWhereTheBestOfTheListAreFinished) {
  const Setting s = setting(5);
  HorizonProblem p = problem(s, 1000.0);
  p.new_points = NewPoints::none;
  std::vector<CurveAt> list;
  std::vector<double> alone;  // what each adds by itself
  for (int i = 0; i < 100; ++i) {
    list.push_back({Eigen::Vector2d((i % 10) / 10.0, i / 100.0), -1 - i, 0});
    p.candidates = {list.back()};
    Rng rng(6);
    alone.push_back(plan(p, quick(), rng).runs.at(0).score);
  }
  const auto least = std::min_element(alone.begin(), alone.end()) - alone.begin();
  for (int i = 0; i < 100; ++i) list[static_cast<std::size_t>(i)].done = i == least ? 0 : kMaxEpoch - 1;
  p.candidates = list;
  Rng rng(6);
  const Horizon horizon = plan(p, quick(), rng);
  ASSERT_EQ(horizon.runs.size(), 1u);
  EXPECT_EQ(horizon.next().candidate, least);
  EXPECT_EQ(horizon.end, HorizonEnd::nothing_left);
}

TEST(Horizon, CostPerUnitIsNotMaximisedByTrivialShortRuns) {
  // With a sensible tolerance the planned runs are long: a one-epoch run is cheap, but its stop is not the plateau.
  int longest = 0;
  for (std::uint64_t seed = 10; seed < 16; ++seed) {
    const Setting s = setting(seed);
    Rng rng(seed);
    const Horizon horizon = plan(problem(s, 1000.0), quick(), rng);
    ASSERT_FALSE(horizon.empty());
    EXPECT_GT(horizon.next().until, 1);
    for (const PlannedRun& run : horizon.runs) longest = std::max(longest, run.until);
  }
  EXPECT_GT(longest, 10);
}

// Else runs near their stop, whose next epoch costs next to nothing, creep on one epoch at a time before all others.
TEST(Horizon, NoRunIsPlannedToEndBeforeItsFirstLook) {
  const Setting s = setting(5);
  HorizonProblem p = problem(s, 1000.0);
  p.new_points = NewPoints::none;
  p.epsilon = 100.0;  // everything is flat
  p.candidates = {{s.data.x.row(0), 0, 20}, {s.data.x.row(1), 1, 45}, {Vector::Constant(2, 0.45), -1, 0}};
  Rng rng(6);
  for (const PlannedRun& run : plan(p, quick(), rng).runs) EXPECT_EQ(run.until, 1) << "only what is new";
  p.first_look = 10;
  const Horizon horizon = plan(p, quick(), rng);
  ASSERT_EQ(horizon.runs.size(), 3u);
  for (const PlannedRun& run : horizon.runs) {
    EXPECT_EQ(run.until, std::min(run.from + 10, kMaxEpoch));
    EXPECT_EQ(run.cost, run.until - run.from);
  }
  p.budget = 4.0;
  const Horizon part = plan(p, quick(), rng);
  ASSERT_EQ(part.runs.size(), 1u);
  EXPECT_EQ(part.next().until, part.next().from + 4) << "but for what the budget does not pay";
}

TEST(Horizon, ChoosesTheLargestImprovementPerCost) {
  const Setting s = setting(7);
  Rng rng(8);
  const Horizon horizon = plan(problem(s, 1000.0), quick(), rng);
  for (const PlannedRun& run : horizon.runs) {
    EXPECT_LE(run.log_improvement_per_cost, horizon.next().log_improvement_per_cost);
    EXPECT_NEAR(run.log_improvement_per_cost, run.log_improvement - std::log(run.cost), 1e-12);
  }
}

TEST(Horizon, FinishedCandidatesAreLeftOut) {
  const Setting s = setting(9);
  HorizonProblem p = problem(s, 1000.0);
  p.new_points = NewPoints::none;
  for (int i = 0; i < 10; ++i) p.candidates.push_back({s.data.x.row(i), i, kMaxEpoch});
  Rng rng(10);
  const Horizon horizon = plan(p, quick(), rng);
  EXPECT_TRUE(horizon.empty());
  EXPECT_EQ(horizon.end, HorizonEnd::nothing_left);
}

TEST(Horizon, PendingRunsKeepOthersAway) {
  const Setting s = setting(11);
  HorizonProblem p = problem(s, 1000.0);
  Rng rng(12);
  const Horizon first = plan(p, quick(), rng);
  ASSERT_FALSE(first.empty());
  p.pending = {{first.runs[0].x, -5, kMaxEpoch}};
  const Horizon second = plan(p, quick(), rng);
  ASSERT_FALSE(second.empty());
  EXPECT_GT((second.runs[0].x - first.runs[0].x).norm(), 1e-3);
  // What is still to be gained has become less.
  EXPECT_LE(second.runs[0].score, first.runs[0].score + 0.05);
}

TEST(Horizon, EveryPlannedConfigurationIsValid) {
  const Setting s = setting(13);
  HorizonProblem p = problem(s, 1000.0);
  p.decode = [](const Vector& x) -> Vector { return (x * 5.0).array().round() / 5.0; };
  Rng rng(14);
  for (const PlannedRun& run : plan(p, quick(), rng).runs) EXPECT_EQ(p.decode(run.x), run.x);
}

TEST(Horizon, NewPointsAreNoneThatIsTakenOrPlannedAlready) {
  const Setting s = setting(13);
  HorizonProblem p = problem(s, 1000.0);
  p.decode = [](const Vector& x) -> Vector { return (x * 2.0).array().round() / 2.0; };  // nine in all
  p.candidates = {{Eigen::Vector2d(0.0, 0.0), 100, 5}};
  p.taken = {Eigen::Vector2d(0.5, 0.5), Eigen::Vector2d(0.0, 0.5), Eigen::Vector2d(0.5, 1.0)};
  HorizonOptions options = quick();
  options.length = 8;
  Rng rng(14);
  const Horizon horizon = plan(p, options, rng);
  EXPECT_GE(horizon.runs.size(), 5u);
  for (std::size_t i = 0; i < horizon.runs.size(); ++i) {
    const PlannedRun& run = horizon.runs[i];
    EXPECT_EQ(std::find(p.taken.begin(), p.taken.end(), run.x), p.taken.end());
    for (std::size_t j = 0; j < i; ++j) EXPECT_NE(run.x, horizon.runs[j].x);
    if (run.candidate < 0) {
      EXPECT_NE(run.x, p.candidates[0].x);
    }
  }
}

TEST(Horizon, EndsWhereEverythingIsTaken) {
  const Setting s = setting(13);
  HorizonProblem p = problem(s, 1000.0);
  p.decode = [](const Vector& x) -> Vector { return x.array().round(); };
  p.taken = {Eigen::Vector2d(0, 0), Eigen::Vector2d(0, 1), Eigen::Vector2d(1, 0), Eigen::Vector2d(1, 1)};
  Rng rng(15);
  const Horizon horizon = plan(p, quick(), rng);
  EXPECT_TRUE(horizon.empty());
  EXPECT_EQ(horizon.end, HorizonEnd::nothing_left);
  p.taken.pop_back();
  const Horizon last = plan(p, quick(), rng);
  ASSERT_EQ(last.runs.size(), 1u);
  EXPECT_EQ(last.next().x, Vector::Ones(2));
}

TEST(Horizon, DependsOnTheStreamAloneWhateverTheThread) {
  const Setting s = setting(15);
  const auto planned = [&] {
    Rng rng(16);
    return plan(problem(s, 1000.0), quick(), rng);
  };
  const Horizon here = planned();
  std::vector<Horizon> there(3);
  std::vector<std::thread> threads;
  for (Horizon& horizon : there) threads.emplace_back([&] { horizon = planned(); });
  for (std::thread& thread : threads) thread.join();
  for (const Horizon& horizon : there) {
    ASSERT_EQ(horizon.runs.size(), here.runs.size());
    EXPECT_EQ(horizon.chosen, here.chosen);
    for (std::size_t i = 0; i < here.runs.size(); ++i) EXPECT_EQ(horizon.runs[i].x, here.runs[i].x);
  }
}

TEST(Horizon, ALongListIsScreenedAndTheBestOfItScoredInFull) {
  const Setting s = setting(21);
  HorizonProblem p = problem(s, 1000.0);
  p.new_points = NewPoints::none;
  Rng list(22);
  for (int i = 0; i < 150; ++i) p.candidates.push_back({Eigen::Vector2d(list.uniform(), list.uniform()), -1 - i, 0});
  HorizonOptions full = quick();
  full.screen_draws = full.draws;
  Rng a(23);
  Rng b(23);
  const Horizon exact = plan(p, full, a);
  const Horizon screened = plan(p, quick(), b);
  ASSERT_EQ(exact.runs.size(), 4u);
  ASSERT_EQ(screened.runs.size(), 4u);
  EXPECT_EQ(screened.runs[0].candidate, exact.runs[0].candidate);
  EXPECT_NEAR(screened.runs[3].score, exact.runs[3].score, 0.2 * exact.runs[3].score);
}

TEST(Horizon, DataThatContradictTheConstraintGiveFiniteNumbersAndAreReported) {
  Matrix x(6, 2);
  x.setConstant(0.5);
  Vector y(6);
  y << 1.5, 0.9, 0.3, -0.3, -0.9, -1.5;
  GpParameters parameters = curves::structure(TimeKind::exponential_decay, 2);
  parameters.noise = 1e-5;
  const ExactGp gp(Rows::at_epochs(x, {1, 10, 20, 30, 40, 49}, kMaxEpoch), y, parameters);
  HorizonProblem p{.model = gp,
                   .best = 1.5,
                   .min_epoch = 1,
                   .max_epoch = kMaxEpoch,
                   .epsilon = 0.0,
                   .budget = 100.0,
                   .cost = [](const Vector&, Epoch done, Epoch until) { return static_cast<Cost>(until - done); },
                   .candidates = {{Vector::Constant(2, 0.5), 0, 0}},
                   .pending = {},
                   .new_points = NewPoints::none};
  Rng rng(24);
  const Horizon horizon = plan(p, quick(), rng);
  ASSERT_EQ(horizon.runs.size(), 1u);
  EXPECT_LT(horizon.least_log_probability, kContradictionLogProbability);
  EXPECT_TRUE(std::isfinite(horizon.next().mean));
  EXPECT_TRUE(std::isfinite(horizon.next().log_improvement));
}

TEST(Horizon, WorksForEveryScoreAndWithoutMonotonicity) {
  const Setting s = setting(17);
  for (const BatchScore score : {BatchScore::improvement, BatchScore::upper_bound, BatchScore::probability}) {
    for (const Monotonicity monotone : {Monotonicity::off, Monotonicity::on}) {
      HorizonOptions options = quick();
      options.acquisition.score = score;
      Rng rng(18);
      EXPECT_EQ(plan(problem(s, 1000.0), options, rng, monotone).runs.size(), 4u);
    }
  }
}

TEST(Horizon, RefusesWhatMakesNoSense) {
  const Setting s = setting(19);
  Rng rng(20);
  HorizonProblem p = problem(s, 10.0);
  p.epsilon = -1.0;
  EXPECT_THROW(plan(p, quick(), rng), InvalidInput);
  p.epsilon = 0.0;
  p.first_look = -1;
  EXPECT_THROW(plan(p, quick(), rng), InvalidInput);
  HorizonOptions options = quick();
  options.length = 0;
  EXPECT_THROW(plan(problem(s, 10.0), options, rng), InvalidInput);
}

}  // namespace horizon_test
}  // namespace bapi
