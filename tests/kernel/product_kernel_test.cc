#include "bapi/kernel/product_kernel.h"

#include <gtest/gtest.h>

#include <Eigen/Eigenvalues>
#include <cmath>

#include "bapi/base/rng.h"

namespace bapi {
namespace {

Rows random_rows(int configurations, int d, Rng& rng) {
  Rows rows;
  for (int c = 0; c < configurations; ++c) {
    Vector x(d);
    for (int j = 0; j < d; ++j) x(j) = rng.uniform();
    rows.append(Rows::of_curve(x, {1 + rng.below(20), 21 + rng.below(20)}, 40, c));
    rows.append(Rows::of_curve(x, {rng.below(41)}, 40, c, Op::slope));
  }
  return rows;
}

ProductKernel random_kernel(TimeKind kind, int d, double own, Rng& rng) {
  ProductKernel kernel;
  kernel.amplitude = 0.5 + rng.uniform();
  kernel.space.kind = rng.below(2) == 0 ? SpaceKind::rbf : SpaceKind::matern52;
  kernel.space.lengthscales = Vector(d);
  for (int j = 0; j < d; ++j) kernel.space.lengthscales(j) = 0.2 + rng.uniform();
  kernel.time.kind = kind;
  kernel.time.bias = 0.1;
  kernel.own_amplitude = own;
  return kernel;
}

const TimeKind kKinds[] = {TimeKind::exponential_decay, TimeKind::rbf, TimeKind::linear, TimeKind::constant};

TEST(Covariance, IsSymmetricAndPositiveSemidefinite) {
  Rng rng(1);
  for (int repetition = 0; repetition < 20; ++repetition) {
    for (const TimeKind kind : kKinds) {
      const Rows rows = random_rows(6, 3, rng);
      const Covariance covariance(random_kernel(kind, 3, 0.2, rng), 40);
      const Matrix k = covariance.gram(rows);
      EXPECT_EQ(k, Matrix(k.transpose()));
      EXPECT_GE(Eigen::SelfAdjointEigenSolver<Matrix>(k).eigenvalues().minCoeff(), -1e-11 * k.diagonal().maxCoeff());
    }
  }
}

TEST(Covariance, GramCrossAndVariancesAgree) {
  Rng rng(2);
  for (const TimeKind kind : kKinds) {
    for (const double own : {0.0, 0.5}) {
      const Rows rows = random_rows(5, 2, rng);
      const Covariance covariance(random_kernel(kind, 2, own, rng), 40);
      const Matrix gram = covariance.gram(rows);
      EXPECT_LE((gram - covariance.cross(rows, rows)).norm(), 1e-12 * gram.norm());
      EXPECT_LE((gram.diagonal() - covariance.variances(rows)).norm(), 1e-12 * gram.norm());
    }
  }
}

TEST(Covariance, ElementsAreTheProductOfBothKernels) {
  Rng rng(3);
  const Rows rows = random_rows(4, 2, rng);
  const ProductKernel kernel = random_kernel(TimeKind::exponential_decay, 2, 0.3, rng);
  const Matrix k = Covariance(kernel).gram(rows);
  for (Eigen::Index i = 0; i < rows.size(); ++i) {
    for (Eigen::Index j = 0; j < rows.size(); ++j) {
      const double squared =
          ((rows.x.row(i) - rows.x.row(j)).transpose().cwiseQuotient(kernel.space.lengthscales)).squaredNorm();
      Vector kx(1);
      kernel.space.correlations(Vector::Constant(1, squared), kx);
      const double shared = kernel.amplitude * kx(0) + (rows.group[i] == rows.group[j] ? 0.3 : 0.0);
      EXPECT_NEAR(k(i, j), shared * kernel.time(rows.op[i], rows.tau(i), rows.op[j], rows.tau(j)), 1e-12);
    }
  }
}

TEST(Covariance, ContractionIsTheProductWithTheWeights) {
  Rng rng(5);
  for (const TimeKind kind : kKinds) {
    for (const double own : {0.0, 0.5}) {
      for (const Epoch scale : {0, 40}) {
        const Rows a = random_rows(5, 2, rng);
        Rows b = random_rows(3, 2, rng);
        b.append(a);
        const Covariance covariance(random_kernel(kind, 2, own, rng), scale);
        Vector weights(a.size());
        for (double& weight : weights) weight = rng.normal();
        const Vector expected = covariance.cross(a, b).transpose() * weights;
        EXPECT_LE((covariance.contracted(a, b, weights) - expected).norm(), 1e-11 * (1.0 + expected.norm()));
      }
    }
  }
}

TEST(Covariance, BothContractionsOfTheXGradientAgreeWithDifferences) {
  Rng rng(4);
  constexpr double kStep = 1e-5;
  for (const TimeKind kind : kKinds) {
    const Rows a = random_rows(5, 3, rng);
    const Covariance covariance(random_kernel(kind, 3, 0.3, rng), 40);
    Rows b = random_rows(1, 3, rng);
    Matrix weights(a.size(), b.size());
    for (Eigen::Index i = 0; i < weights.size(); ++i) weights(i) = rng.normal();
    const Matrix each = covariance.contracted_x_gradient(a, b, weights);
    const std::vector<Matrix> all = covariance.contracted_x_gradients(a, b, weights);
    for (int j = 0; j < 3; ++j) {
      Rows up = b;
      Rows down = b;
      up.x.col(j).array() += kStep;
      down.x.col(j).array() -= kStep;
      const Matrix slope = (covariance.cross(a, up) - covariance.cross(a, down)) / (2.0 * kStep);
      const Matrix expected = slope.transpose() * weights;
      EXPECT_LE((all[j] - expected).norm(), 1e-6 * (1.0 + expected.norm()));
      EXPECT_LE((each.row(j).transpose() - expected.diagonal()).norm(), 1e-6 * (1.0 + expected.norm()));
    }
  }
}

}  // namespace
}  // namespace bapi
