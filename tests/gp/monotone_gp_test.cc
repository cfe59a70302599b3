#include "bapi/gp/monotone_gp.h"

#include <gtest/gtest.h>

#include <cmath>

#include "tests/support/monotone_share.h"
#include "tests/support/references.h"

namespace bapi {
namespace monotone_gp_test {

struct Setting {
  curves::Data data;
  ExactGp gp;
  SlopeConstraint slopes;
};

Setting setting(TimeKind kind, std::uint64_t seed) {
  Rng rng(seed);
  curves::Data data = curves::simulate(8, 3, 50, rng);
  ExactGp gp = curves::fitted(data, kind, rng);
  SlopeConstraint slopes = slope_constraint(gp, 1);
  return {std::move(data), std::move(gp), std::move(slopes)};
}

Vector somewhere(Rng& rng) {
  return Vector::NullaryExpr(3, [&] { return rng.uniform(); });
}

// Between its virtual rows the mean may still bend: under exponential decay, held at both ends only, by some hundredths
// of a standard deviation in about one fitted data set of fifty. tests/slow does the same on a thousand of them.
TEST(MonotoneGp, MeanHardlyEverDecreasesOnFittedDataSets) {
  const curves::MonotoneShare decay = curves::monotone_share(TimeKind::exponential_decay, 60, 50, 1);
  EXPECT_GE(decay.monotone, 57);
  EXPECT_LT(decay.largest_fall, 0.05);
  const curves::MonotoneShare rbf = curves::monotone_share(TimeKind::rbf, 30, 50, 2);
  EXPECT_GE(rbf.monotone, 29);
  EXPECT_LT(rbf.largest_fall, 0.05);
}

// The paper's constrained posterior: with A and B as printed there (misprints corrected) the mean is the same.
TEST(MonotoneGp, PosteriorMeanOfThePaperWithMatricesAAndB) {
  const Setting s = setting(TimeKind::exponential_decay, 3);
  Rng rng(4);
  const Vector x = somewhere(rng);
  const MonotoneGp posterior(s.gp, Constraint::on_slopes(s.slopes, x, -1));
  const Rows rows = Rows::of_curve(x, {3, 20, 50}, 50, -1);
  const Covariance& k = s.gp.covariance();
  Matrix kw = k.gram(s.data.rows);
  kw.diagonal().array() += s.gp.parameters().noise;
  const Rows virtual_rows = s.slopes.rows(x, -1);
  const std::optional<Cholesky> factor = Cholesky::factor(kw);
  ASSERT_TRUE(factor);
  const Matrix a1 = factor->solve(k.cross(s.data.rows, virtual_rows)).transpose();
  const Matrix a2 = factor->solve(k.cross(s.data.rows, rows)).transpose();
  Matrix b1 = k.gram(virtual_rows) - a1 * k.cross(s.data.rows, virtual_rows);
  b1.diagonal() += s.slopes.noise;
  const Matrix b3 = k.cross(rows, virtual_rows) - a2 * k.cross(s.data.rows, virtual_rows);
  const std::optional<Cholesky> factor1 = Cholesky::factor(b1);
  ASSERT_TRUE(factor1);
  const Matrix a = factor1->solve(Matrix(b3.transpose())).transpose();
  const Matrix b = a2 - a * a1;
  const Vector residual = s.data.y - s.gp.prior_mean(s.data.rows);
  const Vector expected = s.gp.prior_mean(rows) + a * posterior.constrained_mean() + b * residual;
  EXPECT_LT((posterior.mean(rows) - expected).cwiseAbs().maxCoeff(), 1e-6);
}

TEST(MonotoneGp, AllRoutesToTheMomentsAgree) {
  for (const TimeKind kind : {TimeKind::exponential_decay, TimeKind::rbf}) {
    const Setting s = setting(kind, 5);
    Rng rng(6);
    const Vector x = somewhere(rng);
    const MonotoneGp posterior(s.gp, Constraint::on_slopes(s.slopes, x, -1));
    const Rows rows = Rows::of_curve(x, {1, 10, 25, 50}, 50, -1);
    const Moments moments = posterior.predict(rows);
    const JointMoments joint = posterior.predict_joint(rows);
    EXPECT_LT((moments.mean - posterior.mean(rows)).cwiseAbs().maxCoeff(), 1e-7);
    EXPECT_LT((moments.mean - joint.mean).cwiseAbs().maxCoeff(), 1e-9);
    EXPECT_LT((moments.variance - joint.covariance.diagonal()).cwiseAbs().maxCoeff(), 1e-7);
  }
}

TEST(MonotoneGp, ConstraintNeverAddsVariance) {
  const Setting s = setting(TimeKind::exponential_decay, 7);
  Rng rng(8);
  for (int i = 0; i < 20; ++i) {
    const Vector x = somewhere(rng);
    const Rows rows = Rows::of_curve(x, {1, 25, 50}, 50, -1);
    const Moments constrained = MonotoneGp(s.gp, Constraint::on_slopes(s.slopes, x, -1)).predict(rows);
    const Moments plain = s.gp.predict(rows);
    EXPECT_LE((constrained.variance - plain.variance).maxCoeff(), 1e-9);
  }
}

TEST(MonotoneGp, WithoutConstraintItIsThePlainPosterior) {
  const Setting s = setting(TimeKind::exponential_decay, 9);
  Rng rng(10);
  const Vector x = somewhere(rng);
  const SlopeConstraint none = slope_constraint(s.gp, 1, {.monotone = Monotonicity::off});
  const MonotoneGp posterior(s.gp, Constraint::on_slopes(none, x, -1));
  const Rows rows = Rows::of_curve(x, {1, 50}, 50, -1);
  EXPECT_EQ(posterior.log_probability(), 0.0);
  EXPECT_LT((posterior.predict(rows).mean - s.gp.predict(rows).mean).norm(), 1e-12);
  EXPECT_LT((posterior.mean(rows) - s.gp.predict(rows).mean).norm(), 1e-9);
}

TEST(MonotoneGp, FarFromDataTheCurveStillRises) {
  // Without the constraint the mean would be flat there and every run would look finished after one epoch.
  const Setting s = setting(TimeKind::exponential_decay, 11);
  const Vector far = Vector::Constant(3, 40.0);
  const MonotoneGp posterior(s.gp, Constraint::on_slopes(s.slopes, far, -1));
  const Vector means = curve_means(posterior, far, -1, 1, 50, 50);
  EXPECT_GT(means[49] - means[0], 0.05);
}

TEST(MonotoneGp, FallingDataAreReportedAsAContradiction) {
  // A curve that falls steadily, nearly without noise.
  Matrix x = Matrix::Constant(6, 1, 0.5);
  const std::vector<Epoch> epochs = {1, 10, 20, 30, 40, 50};
  Vector y(6);
  y << 1.5, 0.9, 0.3, -0.3, -0.9, -1.5;
  GpParameters parameters = curves::structure(TimeKind::exponential_decay, 1);
  parameters.noise = 1e-5;
  const ExactGp gp(Rows::at_epochs(x, epochs, 50), y, parameters);
  const SlopeConstraint slopes = slope_constraint(gp, 1);
  const MonotoneGp posterior(gp, Constraint::on_slopes(slopes, Vector::Constant(1, 0.5), 0));
  EXPECT_LT(posterior.log_probability(), kContradictionLogProbability);
  const Vector means = curve_means(posterior, Vector::Constant(1, 0.5), 0, 1, 50, 50);
  EXPECT_TRUE(means.allFinite());
  EXPECT_TRUE(posterior.predict(Rows::of_curve(Vector::Constant(1, 0.5), {50}, 50)).variance.allFinite());
}

TEST(MonotoneGp, NoDataAreAllRight) {
  GpParameters parameters = curves::structure(TimeKind::exponential_decay, 2);
  const ExactGp gp(Rows::at_epochs(Matrix(0, 2), {}, 50), Vector(0), parameters);
  const SlopeConstraint slopes = slope_constraint(gp, 1);
  const Vector x = Vector::Constant(2, 0.5);
  const MonotoneGp posterior(gp, Constraint::on_slopes(slopes, x, 0));
  const Vector means = curve_means(posterior, x, 0, 1, 50, 50);
  for (Eigen::Index i = 1; i < means.size(); ++i) EXPECT_GE(means[i], means[i - 1]);
  EXPECT_NEAR(posterior.log_probability(), log_prior_probability(posterior), 1e-9);
}

}  // namespace monotone_gp_test
}  // namespace bapi
