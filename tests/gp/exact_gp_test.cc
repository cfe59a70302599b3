#include "bapi/gp/exact_gp.h"

#include <gtest/gtest.h>

#include <Eigen/Eigenvalues>
#include <Eigen/LU>
#include <cmath>

#include "bapi/base/rng.h"

namespace bapi {
namespace {

constexpr double kRounding = 1e-9;

// A data set of curves over [0,1]^d: `configurations` x `per_curve` rows with values of a smooth function.
struct Data {
  Rows rows;
  Vector y;
};

Data curves(int configurations, int per_curve, int d, Rng& rng) {
  const int n = configurations * per_curve;
  Matrix x(n, d);
  std::vector<Epoch> epochs;
  std::vector<int> groups;
  Vector y(n);
  for (int c = 0; c < configurations; ++c) {
    Vector point(d);
    for (int j = 0; j < d; ++j) point(j) = rng.uniform();
    for (int k = 0; k < per_curve; ++k) {
      const int i = c * per_curve + k;
      const Epoch epoch = 1 + (50 * k) / per_curve + rng.below(50 / per_curve);
      x.row(i) = point.transpose();
      epochs.push_back(epoch);
      groups.push_back(c);
      y(i) = std::sin(3.0 * point.sum()) - 2.0 / (1.0 + epoch / 8.0) + 0.05 * rng.normal();
    }
  }
  return {Rows::at_epochs(x, epochs, 50, groups), y};
}

GpParameters parameters(int d, TimeKind kind, double own = 0.0) {
  GpParameters p;
  p.kernel.amplitude = 1.3;
  p.kernel.space.lengthscales = Vector::LinSpaced(d, 0.5, 0.9);
  p.kernel.time.kind = kind;
  p.kernel.own_amplitude = own;
  p.noise = 0.01;
  return p;
}

const TimeKind kKinds[] = {TimeKind::exponential_decay, TimeKind::rbf, TimeKind::linear, TimeKind::constant};

Rows queries(int d, Rng& rng) {
  Rows rows;
  for (int i = 0; i < 6; ++i) {
    Vector x(d);
    for (int j = 0; j < d; ++j) x(j) = rng.uniform();
    rows.append(Rows::of_curve(x, {1 + rng.below(50), 50}, 50, 1000 + i));
    rows.append(Rows::of_curve(x, {0, 50}, 50, 1000 + i, Op::slope));
  }
  return rows;
}

TEST(ExactGp, WithoutDataThePosteriorIsThePrior) {
  Rng rng(1);
  for (const TimeKind kind : kKinds) {
    const ExactGp gp(Rows::at_epochs(Matrix(0, 2), {}, 50), Vector(0), parameters(2, kind, 0.2));
    const Rows rows = queries(2, rng);
    const Moments moments = gp.predict(rows);
    EXPECT_EQ(moments.mean, Vector::Zero(rows.size()));
    EXPECT_EQ(moments.variance, gp.covariance().variances(rows));
    EXPECT_EQ(gp.predict_with_gradients(rows).mean, Matrix::Zero(2, rows.size()));
    EXPECT_EQ(gp.log_likelihood(), 0.0);
  }
}

TEST(ExactGp, PosteriorMeanInterpolatesNearlyNoiselessData) {
  Rng rng(2);
  const Data data = curves(8, 3, 2, rng);
  GpParameters p = parameters(2, TimeKind::exponential_decay, 0.3);
  p.noise = 1e-8;
  const ExactGp gp(data.rows, data.y, p);
  EXPECT_LE((gp.predict(data.rows).mean - data.y).cwiseAbs().maxCoeff(), 1e-4);
  EXPECT_LE(gp.predict(data.rows).variance.maxCoeff(), 1e-6);
}

TEST(ExactGp, PaperPredictiveMeanAndVarianceOfABackgroundGp) {
  // mu(z) = m + k (K + s2 I)^-1 (y - m), sigma^2(z) = k(z, z) - k (K + s2 I)^-1 k^T, solved as written.
  Rng rng(12);
  const Data data = curves(6, 3, 2, rng);
  const GpParameters p = parameters(2, TimeKind::rbf);
  const ExactGp gp(data.rows, data.y, p, {.coefficient = 0.3});
  const Rows rows = queries(2, rng);
  Matrix noisy = gp.covariance().gram(data.rows);
  noisy.diagonal().array() += p.noise;
  const Matrix k = gp.covariance().cross(data.rows, rows);
  const Matrix solved = noisy.partialPivLu().solve(k);
  const Vector centred = data.y.array() - 0.3;
  const Moments moments = gp.predict(rows);
  for (Eigen::Index i = 0; i < rows.size(); ++i) {
    const double prior = rows.op[i] == Op::value ? 0.3 : 0.0;
    EXPECT_NEAR(moments.mean(i), prior + solved.col(i).dot(centred), kRounding);
    EXPECT_NEAR(
        moments.variance(i), gp.covariance().variances(rows)(i) - solved.col(i).dot(k.col(i)), kRounding * 100.0);
  }
}

TEST(ExactGp, PosteriorVarianceIsNeverAboveThePrior) {
  Rng rng(3);
  for (const TimeKind kind : kKinds) {
    for (const double own : {0.0, 0.5}) {
      const Data data = curves(10, 3, 3, rng);
      const ExactGp gp(data.rows, data.y, parameters(3, kind, own));
      const Rows rows = queries(3, rng);
      const Vector prior = gp.covariance().variances(rows);
      const Vector posterior = gp.predict(rows).variance;
      for (Eigen::Index i = 0; i < rows.size(); ++i) EXPECT_LE(posterior(i), prior(i));
    }
  }
}

TEST(ExactGp, JointMomentsAgreeWithTheMomentsOfEachRow) {
  Rng rng(4);
  const Data data = curves(6, 3, 2, rng);
  const ExactGp gp(data.rows, data.y, parameters(2, TimeKind::rbf, 0.1));
  const Rows rows = queries(2, rng);
  const JointMoments joint = gp.predict_joint(rows);
  const Moments each = gp.predict(rows);
  EXPECT_LE((joint.mean - each.mean).norm(), kRounding);
  EXPECT_LE((joint.covariance.diagonal() - each.variance).norm(), kRounding);
  const Vector eigenvalues = joint.covariance.selfadjointView<Eigen::Lower>().eigenvalues();
  EXPECT_GE(eigenvalues.minCoeff(), -kRounding);
}

TEST(ExactGp, GlsMeanMaximisesTheLikelihood) {
  Rng rng(5);
  const Data data = curves(6, 3, 2, rng);
  for (const MeanShape shape : {MeanShape::constant, MeanShape::proportional}) {
    const GpParameters p = parameters(2, TimeKind::exponential_decay);
    const ExactGp gp(data.rows, data.y, p, {.shape = shape});
    for (const double change : {-0.1, 0.1}) {
      const ExactGp other(data.rows, data.y, p, {.shape = shape, .coefficient = gp.mean_coefficient() + change});
      EXPECT_LT(other.log_likelihood(), gp.log_likelihood());
    }
  }
}

TEST(ExactGp, GradientsInXAgreeWithDifferences) {
  Rng rng(6);
  for (const TimeKind kind : kKinds) {
    for (const SpaceKind space : {SpaceKind::rbf, SpaceKind::matern52}) {
      const Data data = curves(6, 3, 3, rng);
      GpParameters p = parameters(3, kind, 0.2);
      p.kernel.space.kind = space;
      const ExactGp gp(data.rows, data.y, p);
      const Rows rows = queries(3, rng);
      const MomentGradients gradients = gp.predict_with_gradients(rows);
      constexpr double kStep = 1e-5;
      for (int j = 0; j < 3; ++j) {
        Rows up = rows;
        Rows down = rows;
        up.x.col(j).array() += kStep;
        down.x.col(j).array() -= kStep;
        const Moments above = gp.predict(up);
        const Moments below = gp.predict(down);
        const Vector mean = (above.mean - below.mean) / (2.0 * kStep);
        const Vector variance = (above.variance - below.variance) / (2.0 * kStep);
        EXPECT_LE((gradients.mean.row(j).transpose() - mean).norm(), 1e-6 * (1.0 + mean.norm()));
        EXPECT_LE((gradients.variance.row(j).transpose() - variance).norm(), 1e-6 * (1.0 + variance.norm()));
      }
    }
  }
}

TEST(ExactGp, AppendedDataGiveThePosteriorOfTheWhole) {
  Rng rng(7);
  const Data data = curves(12, 4, 2, rng);
  const GpParameters p = parameters(2, TimeKind::exponential_decay, 0.2);
  const ExactGp whole(data.rows, data.y, p, {.coefficient = 0.3});
  Rows head = data.rows;
  head.truncate(40);
  ExactGp gp(head, data.y.head(40), p, {.coefficient = 0.3});
  for (Eigen::Index i = 40; i < 48; ++i) gp.append(data.rows.select({i}), data.y.segment(i, 1));
  const Rows rows = queries(2, rng);
  EXPECT_LE((gp.predict(rows).mean - whole.predict(rows).mean).norm(), kRounding);
  EXPECT_LE((gp.predict(rows).variance - whole.predict(rows).variance).norm(), kRounding);
  EXPECT_NEAR(gp.log_likelihood(), whole.log_likelihood(), kRounding * std::abs(whole.log_likelihood()));
}

TEST(ExactGp, AppendThenPopIsTheIdentity) {
  Rng rng(8);
  const Data data = curves(8, 3, 2, rng);
  ExactGp gp(data.rows, data.y, parameters(2, TimeKind::exponential_decay, 0.2));
  const Rows rows = queries(2, rng);
  const Moments before = gp.predict(rows);
  const Data more = curves(5, 3, 2, rng);
  gp.append(more.rows, more.y);
  EXPECT_NE(gp.predict(rows).mean, before.mean);
  gp.pop(15);
  EXPECT_EQ(gp.predict(rows).mean, before.mean);
  EXPECT_EQ(gp.predict(rows).variance, before.variance);
  EXPECT_EQ(gp.size(), 24);
}

TEST(ExactGp, OwnTermTiesOnlyRowsOfOneGroup) {
  // One observation far above the mean: with hardly any shared amplitude only its own configuration follows it.
  GpParameters p = parameters(1, TimeKind::constant, 1.0);
  p.kernel.amplitude = 1e-6;
  p.noise = 1e-4;
  const ExactGp gp(Rows::at_taus(Matrix::Constant(1, 1, 0.5), Vector::Ones(1), {7}),
                   Vector::Constant(1, 2.0),
                   p,
                   {.coefficient = 0.0});
  const Moments same = gp.predict(Rows::at_taus(Matrix::Constant(1, 1, 0.5), Vector::Ones(1), {7}));
  const Moments other = gp.predict(Rows::at_taus(Matrix::Constant(1, 1, 0.5), Vector::Ones(1), {8}));
  EXPECT_NEAR(same.mean(0), 2.0, 1e-3);
  EXPECT_NEAR(other.mean(0), 0.0, 1e-5);
  EXPECT_NEAR(other.variance(0), 1.0, 1e-5);
}

TEST(ExactGp, DuplicateRowsAndConstantValuesGiveFiniteMoments) {
  const Matrix x = Matrix::Constant(6, 2, 0.5);
  const ExactGp gp(
      Rows::at_epochs(x, {5, 5, 5, 5, 5, 5}, 50), Vector::Constant(6, 1.0), parameters(2, TimeKind::exponential_decay));
  Rng rng(9);
  const Moments moments = gp.predict(queries(2, rng));
  EXPECT_TRUE(moments.mean.allFinite());
  EXPECT_TRUE(moments.variance.allFinite());
  EXPECT_NEAR(gp.mean_coefficient(), 1.0, 1e-12);
}

TEST(ExactGp, TablesOverEpochsGiveWhatArbitraryTauGives) {
  Rng rng(10);
  for (const TimeKind kind : kKinds) {
    const Data data = curves(6, 3, 2, rng);
    const Rows rows = queries(2, rng);
    Rows plain = rows;
    plain.max_epoch = 0;
    plain.epoch.clear();
    const ExactGp tabulated(data.rows, data.y, parameters(2, kind));
    const ExactGp direct(Rows::at_taus(data.rows.x, data.rows.tau), data.y, parameters(2, kind));
    EXPECT_LE((tabulated.predict(rows).mean - direct.predict(plain).mean).norm(), kRounding);
    EXPECT_LE((tabulated.predict(rows).mean - tabulated.predict(plain).mean).norm(), kRounding);
  }
}

TEST(ExactGp, PendingRowsLeaveTheMeanAndLowerTheVariance) {
  Rng rng(31);
  const Data data = curves(6, 3, 2, rng);
  const ExactGp gp(data.rows, data.y, parameters(2, TimeKind::exponential_decay, 0.2));
  Rows pending = Rows::of_curve(Vector::Constant(2, 0.4), {50}, 50, 100);
  pending.append(Rows::of_curve(Vector::Constant(2, 0.6), {20}, 50, 101));
  const ExactGp with = gp.with_pending(pending);
  EXPECT_EQ(with.size(), gp.size() + 2);
  const Moments before = gp.predict(pending);
  const Moments after = with.predict(pending);
  EXPECT_LE((after.mean - before.mean).norm(), 1e-8);
  for (Eigen::Index i = 0; i < 2; ++i) EXPECT_LT(after.variance(i), before.variance(i));
  EXPECT_EQ(gp.with_pending(Rows::at_epochs(Matrix(0, 0), {}, 50)).y(), gp.y());
}

TEST(ExactGp, PendingRowsAtOnceAreTheSameAsOneAfterTheOther) {
  Rng rng(32);
  const Data data = curves(6, 3, 2, rng);
  const ExactGp gp(data.rows, data.y, parameters(2, TimeKind::exponential_decay, 0.2));
  Rows pending = Rows::at_epochs(Matrix(0, 2), {}, 50, {});
  for (int i = 0; i < 9; ++i) pending.append(Rows::of_curve(Vector::Constant(2, 0.1 * i), {50}, 50, 100 + i));
  ExactGp in_turn = gp;
  for (Eigen::Index i = 0; i < pending.size(); ++i) {
    const Rows row = pending.select({i});
    in_turn.append(row, in_turn.predict(row).mean);
  }
  const Moments expected = in_turn.predict(data.rows);
  const Moments found = gp.with_pending(pending).predict(data.rows);
  EXPECT_LE((found.mean - expected.mean).norm(), 1e-8);
  EXPECT_LE((found.variance - expected.variance).norm(), 1e-8);
}

}  // namespace
}  // namespace bapi
