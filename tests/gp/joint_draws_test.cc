#include "bapi/gp/joint_draws.h"

#include <gtest/gtest.h>

#include <cmath>

#include "bapi/gp/monotone_gp.h"
#include "bapi/math/truncated_normal.h"
#include "tests/support/curves.h"
#include "tests/support/moved.h"

namespace bapi {
namespace {

struct Setting {
  ExactGp gp;
  SlopeConstraint slopes;
  std::vector<Rows> points;
};

Setting setting(std::uint64_t seed, int points) {
  Rng rng(seed);
  const curves::Data data = curves::simulate(8, 3, 50, rng);
  ExactGp gp = curves::fitted(data, TimeKind::exponential_decay, rng);
  SlopeConstraint slopes = slope_constraint(gp, 1);
  Setting result{std::move(gp), slopes, {}};
  for (int i = 0; i < points; ++i) {
    const Vector x = Vector::NullaryExpr(3, [&] { return rng.uniform(); });
    result.points.push_back(slopes.rows_and_value(x, -1 - i, 50));
  }
  return result;
}

TEST(JointDraws, WeightedMeanOfOnePointIsTheConstrainedMean) {
  const Setting s = setting(1, 3);
  for (const Rows& point : s.points) {
    Rng rng(2);
    JointDraws draws(s.gp, s.slopes, BaseSamples::draw(4096, 1, s.slopes.size(), rng));
    draws.append(draws.extend({point}).front());
    const Vector weights = normalised_weights(draws.log_weights());
    const MonotoneGp posterior(s.gp, Constraint::on_slopes(s.slopes, point.x.row(0), point.group[0]));
    const Moments exact = posterior.predict(point.select({point.size() - 1}));
    const double sd = std::sqrt(exact.variance[0]);
    const Vector f = draws.values().col(0);
    EXPECT_NEAR(weights.dot(f), exact.mean[0], 0.03 * sd);
    EXPECT_NEAR(weights.dot((f.array() - exact.mean[0]).square().matrix()), exact.variance[0], 0.1 * exact.variance[0]);
    EXPECT_NEAR(log_mean_exp(draws.log_weights()), posterior.log_probability(), 0.05);
  }
}

TEST(JointDraws, SlopesNeverFallBelowTheirBound) {
  const Setting s = setting(3, 2);
  Rng rng(4);
  JointDraws draws(s.gp, s.slopes, BaseSamples::draw(256, 2, s.slopes.size(), rng));
  for (const Rows& point : s.points) {
    const DrawExtension next = draws.extend({point}).front();
    EXPECT_GE((next.zeta - next.bound).minCoeff(), 0.0);
    EXPECT_TRUE(next.log_weights.allFinite());
    EXPECT_LE(next.log_weights.maxCoeff(), 0.0);
    draws.append(next);
  }
}

TEST(JointDraws, AppendingAPointKeepsTheDrawsBeforeIt) {
  const Setting s = setting(5, 3);
  Rng rng(6);
  JointDraws draws(s.gp, s.slopes, BaseSamples::draw(64, 3, s.slopes.size(), rng));
  draws.append(draws.extend({s.points[0]}).front());
  const Vector first = draws.values().col(0);
  draws.append(draws.extend({s.points[1]}).front());
  draws.append(draws.extend({s.points[2]}).front());
  EXPECT_EQ(draws.values().col(0), first);
}

TEST(JointDraws, ManyCandidatesAtOnceAreTheSameAsOneByOne) {
  const Setting s = setting(7, 5);
  Rng rng(8);
  JointDraws draws(s.gp, s.slopes, BaseSamples::draw(64, 2, s.slopes.size(), rng));
  draws.append(draws.extend({s.points[0]}).front());
  const std::vector<DrawExtension> together = draws.extend(s.points);
  for (std::size_t i = 0; i < s.points.size(); ++i) {
    const DrawExtension alone = draws.extend({s.points[i]}).front();
    EXPECT_LT((alone.mean - together[i].mean).cwiseAbs().maxCoeff(), 1e-9);
    EXPECT_NEAR(alone.sd, together[i].sd, 1e-9);
  }
}

TEST(JointDraws, GradientsAgreeWithDifferences) {
  const Setting s = setting(9, 3);
  Rng rng(10);
  JointDraws draws(s.gp, s.slopes, BaseSamples::draw(16, 3, s.slopes.size(), rng));
  draws.append(draws.extend({s.points[0]}).front());
  draws.append(draws.extend({s.points[1]}).front());
  const Rows point = s.points[2];
  const DrawGradient gradient = draws.gradients(draws.extend({point})).front();
  for (int j = 0; j < 3; ++j) {
    const double h = 1e-5;
    const DrawExtension a = draws.extend({test::moved(point, j, h)}).front();
    const DrawExtension b = draws.extend({test::moved(point, j, -h)}).front();
    EXPECT_LT(((a.mean - b.mean) / (2 * h) - gradient.mean.col(j)).cwiseAbs().maxCoeff(), 2e-4);
    EXPECT_LT(((a.log_weights - b.log_weights) / (2 * h) - gradient.log_weights.col(j)).cwiseAbs().maxCoeff(), 2e-4);
    EXPECT_NEAR((a.sd - b.sd) / (2 * h), gradient.sd[j], 1e-4);
  }
}

TEST(JointDraws, ResamplingKeepsAveragesAndMakesTheWeightsEqual) {
  const Setting s = setting(13, 2);
  Rng rng(14);
  JointDraws draws(s.gp, s.slopes, BaseSamples::draw(1024, 2, s.slopes.size(), rng));
  draws.append(draws.extend({s.points[0]}).front());
  const Vector weights = normalised_weights(draws.log_weights());
  const double mean = weights.dot(draws.values().col(0));
  const double most = draws.values().col(0).cwiseAbs().maxCoeff();
  const std::vector<Eigen::Index> source = draws.resample();
  EXPECT_EQ(std::ssize(source), 1024);
  EXPECT_NEAR(draws.values().col(0).mean(), mean, 0.01 * most);
  EXPECT_NEAR(effective_size(draws.log_weights()), 1024.0, 1e-9);
  // The next point is drawn given the resampled draws.
  draws.append(draws.extend({s.points[1]}).front());
  EXPECT_TRUE(draws.values().allFinite());
}

TEST(JointDraws, APointThatCoincidesWithDataOrWithAnotherPointIsAllRight) {
  const Setting s = setting(11, 1);
  Rng rng(12);
  JointDraws draws(s.gp, s.slopes, BaseSamples::draw(32, 3, s.slopes.size(), rng));
  const Rows at_data = s.slopes.rows_and_value(s.gp.rows().x.row(0), s.gp.rows().group[0], s.gp.rows().epoch[0]);
  draws.append(draws.extend({at_data}).front());
  draws.append(draws.extend({s.points[0]}).front());
  draws.append(draws.extend({s.points[0]}).front());
  EXPECT_TRUE(draws.values().allFinite());
  // The same configuration twice has the same value up to the jitter.
  EXPECT_LT((draws.values().col(1) - draws.values().col(2)).cwiseAbs().maxCoeff(), 1e-2);
}

}  // namespace
}  // namespace bapi
