#include "bapi/acquisition/batch_improvement.h"

#include <gtest/gtest.h>

#include <cmath>

#include "bapi/acquisition/improvement.h"
#include "bapi/base/error.h"
#include "tests/support/curves.h"
#include "tests/support/moved.h"

namespace bapi {
namespace {

struct Setting {
  ExactGp gp;
  SlopeConstraint slopes;
  std::vector<Rows> points;
  double best = 0.0;
};

Setting setting(std::uint64_t seed, int points, Monotonicity monotone) {
  Rng rng(seed);
  const curves::Data data = curves::simulate(8, 3, 50, rng);
  ExactGp gp = curves::fitted(data, TimeKind::exponential_decay, rng);
  SlopeConstraint slopes = slope_constraint(gp, 1, {.monotone = monotone});
  Setting result{std::move(gp), slopes, {}, data.y.maxCoeff()};
  for (int i = 0; i < points; ++i) {
    const Vector x = Vector::NullaryExpr(3, [&] { return rng.uniform(); });
    result.points.push_back(slopes.rows_and_value(x, -1 - i, 50));
  }
  return result;
}

BatchImprovement batch(const Setting& s, int draws, const BatchOptions& options) {
  Rng rng(99);
  return BatchImprovement(
      JointDraws(s.gp, s.slopes, BaseSamples::draw(draws, 4, s.slopes.size(), rng)), s.best, options);
}

TEST(BatchImprovement, OfOnePointWithoutConstraintIsExactlyTheExpectedImprovement) {
  const Setting s = setting(1, 1, Monotonicity::off);
  const Moments moments = s.gp.predict(s.points[0]);
  const double sd = std::sqrt(moments.variance[0] + 1e-8 * s.gp.parameters().kernel.amplitude);
  EXPECT_NEAR(batch(s, 16, {}).scores(s.points)[0], expected_improvement(moments.mean[0], sd, s.best), 1e-9);
}

TEST(BatchImprovement, OfOnePointUnderTheConstraintTendsToTheMixture) {
  const Setting s = setting(2, 1, Monotonicity::on);
  const Rows& point = s.points[0];
  const MonotoneGp posterior(s.gp, Constraint::on_slopes(s.slopes, point.x.row(0), -1));
  const double exact = log_constrained_improvement(posterior, point.select({point.size() - 1}), s.best);
  EXPECT_NEAR(batch(s, 4096, {}).log_scores({point})[0], exact, 0.02);
}

TEST(BatchImprovement, NeverFallsWhenAPointIsAdded) {
  const Setting s = setting(3, 4, Monotonicity::off);
  BatchImprovement growing = batch(s, 256, {});
  double last = 0.0;
  for (const Rows& point : s.points) {
    const double score = growing.scores({point})[0];
    EXPECT_GE(score, last - 0.02);
    growing.add(point);
    last = score;
  }
}

TEST(BatchImprovement, AddingTheSamePointAgainGainsNothing) {
  const Setting s = setting(4, 2, Monotonicity::off);
  BatchImprovement growing = batch(s, 1024, {});
  growing.add(s.points[0]);
  const Vector scores = growing.scores({s.points[0], s.points[1]});
  EXPECT_LE(scores[0], scores[1] + 1e-3);
}

TEST(BatchImprovement, GainIsWhatTheTotalGrowsBy) {
  const Setting s = setting(9, 2, Monotonicity::off);
  BatchImprovement total = batch(s, 512, {});
  BatchImprovement gain = batch(s, 512, {.counting = Counting::gain});
  EXPECT_NEAR(total.scores({s.points[0]})[0], gain.scores({s.points[0]})[0], 1e-12);
  total.add(s.points[0]);
  gain.add(s.points[0]);
  const double before = (total.draws().values().col(0).array() - s.best).cwiseMax(0.0).mean();
  EXPECT_NEAR(total.scores({s.points[1]})[0] - before, gain.scores({s.points[1]})[0], 1e-10);
  // The same point again adds next to nothing.
  EXPECT_LT(gain.scores({s.points[0]})[0], 0.01 * total.scores({s.points[0]})[0] + 1e-4);
}

class BatchGradient : public testing::TestWithParam<std::tuple<BatchScore, Monotonicity>> {};

TEST_P(BatchGradient, AgreesWithDifferences) {
  const auto& [score, monotone] = GetParam();
  const Setting s = setting(5, 3, monotone);
  for (const Counting counting : {Counting::total, Counting::gain}) {
    BatchImprovement growing = batch(s, 32, {.score = score, .counting = counting});
    growing.add(s.points[0]);
    growing.add(s.points[1]);
    const Rows point = s.points[2];
    const BatchImprovement::Gradients at = growing.score_gradients({point});
    EXPECT_NEAR(at.values[0], growing.scores({point})[0], 1e-12);
    for (int j = 0; j < 3; ++j) {
      const double h = 1e-5;
      const Rows up = test::moved(point, j, h);
      const Rows down = test::moved(point, j, -h);
      const double difference = (growing.scores({up})[0] - growing.scores({down})[0]) / (2 * h);
      EXPECT_NEAR(at.gradients(j, 0), difference, 1e-4 * (1.0 + std::abs(difference)));
    }
  }
}

TEST_P(BatchGradient, OfValuesWithoutSlopesAgreesWithDifferences) {
  const auto& [score, monotone] = GetParam();
  const Setting s = setting(5, 3, monotone);
  BatchImprovement growing = batch(s, 32, {.score = score});
  for (int points = 0; points <= 2; ++points) {
    const Rows value = s.points[2].select({s.points[2].size() - 1});
    Rows values = value;
    values.append(value);
    values.x.row(1).array() *= 0.9;
    const auto objective = [&](const Rows& rows) { return growing.objective(growing.prepare_values(rows)); };
    const BatchImprovement::Gradients at = growing.objective_gradients(growing.prepare_values(values));
    EXPECT_LT((at.values - objective(values)).cwiseAbs().maxCoeff(), 1e-12);
    for (int j = 0; j < 3; ++j) {
      const double h = 1e-5;
      const Rows up = test::moved(values, j, h);
      const Rows down = test::moved(values, j, -h);
      const Vector difference = (objective(up) - objective(down)) / (2 * h);
      for (int i = 0; i < 2; ++i) {
        EXPECT_NEAR(at.gradients(j, i), difference[i], 1e-4 * (1.0 + std::abs(difference[i])));
      }
    }
    growing.add(s.points[static_cast<std::size_t>(points)]);
  }
}

INSTANTIATE_TEST_SUITE_P(
    Scores,
    BatchGradient,
    testing::Combine(testing::Values(BatchScore::improvement, BatchScore::upper_bound, BatchScore::probability),
                     testing::Values(Monotonicity::off, Monotonicity::on)));

TEST(BatchImprovement, OfValuesIsTheSameWhereThereIsNoConstraint) {
  const Setting s = setting(9, 3, Monotonicity::off);
  BatchImprovement growing = batch(s, 64, {.counting = Counting::gain});
  for (const Rows& point : s.points) {
    EXPECT_NEAR(growing.objective(growing.prepare_values(point))[0], growing.log_scores({point})[0], 1e-9);
    const double score = growing.scores({point})[0];
    EXPECT_EQ(growing.add(point), score);
  }
}

TEST(BatchImprovement, LogScoreIsFiniteFarBelowTheBest) {
  Setting s = setting(6, 1, Monotonicity::on);
  s.best = 200.0;
  EXPECT_TRUE(std::isfinite(batch(s, 32, {}).log_scores(s.points)[0]));
}

TEST(BatchImprovement, FewDrawsAreAPrefixOfMany) {
  const Setting s = setting(7, 3, Monotonicity::on);
  const BatchImprovement all = batch(s, 256, {});
  const Vector rough = all.scores(s.points, 64);
  const Vector fine = all.scores(s.points);
  for (int i = 0; i < 3; ++i) EXPECT_NEAR(rough[i], fine[i], 0.1 * fine[i] + 0.02);
}

TEST(BatchImprovement, RefusesOptionsThatMakeNoSense) {
  const Setting s = setting(8, 1, Monotonicity::off);
  EXPECT_THROW(batch(s, 16, {.resample_share = -0.1}), InvalidInput);
  EXPECT_THROW(batch(s, 16, {.resample_share = 1.1}), InvalidInput);
}

}  // namespace
}  // namespace bapi
