#include "bapi/math/cholesky.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "bapi/base/rng.h"

namespace bapi {
namespace {

// Rounding of a few hundred operations on numbers of order 1.
constexpr double kRounding = 1e-11;

Matrix normals(Eigen::Index rows, Eigen::Index cols, Rng& rng) {
  Matrix m(rows, cols);
  for (Eigen::Index j = 0; j < cols; ++j) {
    for (Eigen::Index i = 0; i < rows; ++i) m(i, j) = rng.normal();
  }
  return m;
}

// A random matrix whose factor has a diagonal of at least 1.
Matrix positive_definite(Eigen::Index n, Rng& rng) {
  const Matrix g = normals(n, n, rng);
  return g * g.transpose() / static_cast<double>(n) + Matrix::Identity(n, n);
}

TEST(Cholesky, FactorTimesItsTransposeIsTheMatrix) {
  Rng rng(1);
  for (const Eigen::Index n : {0, 1, 2, 17, 64, 150, 300}) {
    const Matrix a = positive_definite(n, rng);
    const std::optional<Cholesky> factor = Cholesky::factor(a);
    ASSERT_TRUE(factor.has_value());
    const Matrix lower = factor->lower();
    EXPECT_LE((lower * lower.transpose() - a).norm(), kRounding * (1.0 + a.norm())) << n;
    EXPECT_TRUE(lower.isLowerTriangular(0.0));
    EXPECT_EQ(factor->jitter(), 0.0);
  }
}

TEST(Cholesky, ReadsOnlyTheLowerHalf) {
  Rng rng(2);
  Matrix a = positive_definite(20, rng);
  const Matrix lower = Cholesky::factor(a)->lower();
  a.triangularView<Eigen::StrictlyUpper>().setConstant(std::numeric_limits<double>::quiet_NaN());
  EXPECT_EQ(Matrix(Cholesky::factor(a)->lower()), lower);
}

TEST(Cholesky, SolvesInvertTheProducts) {
  Rng rng(3);
  for (const Eigen::Index n : {1, 2, 3, 4, 5, 6, 7, 40, 131}) {
    const Matrix a = positive_definite(n, rng);
    const Cholesky factor = *Cholesky::factor(a);
    const Matrix lower = factor.lower();
    for (const Eigen::Index columns : {1, 2, 3, 4, 7, 12, 13, 40}) {
      const Matrix many = normals(n, columns, rng);
      EXPECT_LE((lower * factor.solve_lower(many) - many).norm(), kRounding * many.norm());
      EXPECT_LE((lower.transpose() * factor.solve_lower_transposed(many) - many).norm(), kRounding * many.norm());
    }
    const Vector one = normals(n, 1, rng);
    EXPECT_LE((lower * factor.solve_lower(one) - one).norm(), kRounding * one.norm());
    EXPECT_LE((lower.transpose() * factor.solve_lower_transposed(one) - one).norm(), kRounding * one.norm());
    const Matrix b = normals(n, 7, rng);
    EXPECT_LE((lower * factor.solve_lower(b) - b).norm(), kRounding * b.norm());
    EXPECT_LE((lower.transpose() * factor.solve_lower_transposed(b) - b).norm(), kRounding * b.norm());
    EXPECT_LE((a * factor.solve(b) - b).norm(), kRounding * b.norm());
    const Matrix inverse = factor.inverse_of_matrix();
    EXPECT_LE((a * inverse - Matrix::Identity(n, n)).norm(), kRounding * static_cast<double>(n));
    EXPECT_EQ(inverse, Matrix(inverse.transpose()));
  }
}

TEST(Cholesky, LogDeterminantOfADiagonalMatrixIsTheSumOfLogs) {
  const Vector diagonal = Vector::LinSpaced(6, 0.5, 3.0);
  EXPECT_NEAR(Cholesky::factor(diagonal.asDiagonal())->log_det(), diagonal.array().log().sum(), 1e-14);
}

TEST(Cholesky, SingularMatrixIsFactoredWithRecordedJitter) {
  const Matrix ones = Matrix::Constant(6, 6, 2.0);
  const std::optional<Cholesky> factor = Cholesky::factor(ones);
  ASSERT_TRUE(factor.has_value());
  EXPECT_GT(factor->jitter(), 0.0);
  EXPECT_LE(factor->jitter(), 2.0 * 1e-4);
  const Matrix product = factor->lower() * factor->lower().transpose();
  EXPECT_LE((product - ones - factor->jitter() * Matrix::Identity(6, 6)).norm(), kRounding);
}

TEST(Cholesky, IndefiniteAndNonFiniteMatricesAreRefused) {
  Matrix a = Matrix::Identity(3, 3);
  a(2, 2) = -1.0;
  EXPECT_FALSE(Cholesky::factor(a).has_value());
  a(2, 2) = std::numeric_limits<double>::quiet_NaN();
  EXPECT_FALSE(Cholesky::factor(a).has_value());
  a(2, 2) = std::numeric_limits<double>::infinity();
  EXPECT_FALSE(Cholesky::factor(a).has_value());
}

TEST(Cholesky, AppendingRowsGivesTheFactorOfTheWhole) {
  Rng rng(4);
  const Matrix a = positive_definite(60, rng);
  const Matrix whole = Cholesky::factor(a)->lower();
  Cholesky factor = *Cholesky::factor(a.topLeftCorner(10, 10));
  for (const Eigen::Index added : {1, 3, 20, 26}) {  // 50 rows: more than the spare room
    const Eigen::Index n = factor.size();
    ASSERT_TRUE(factor.append(a.block(0, n, n, added), a.block(n, n, added, added)));
  }
  ASSERT_EQ(factor.size(), 60);
  EXPECT_LE((Matrix(factor.lower()) - whole).norm(), kRounding * whole.norm());
}

TEST(Cholesky, GrowsRowByRowPastEveryCapacity) {
  Rng rng(11);
  const Eigen::Index n = 200;
  const Matrix a = positive_definite(n, rng);
  for (const Eigen::Index step : {1, 2, 3, 7}) {
    std::optional<Cholesky> factor = Cholesky::factor(Matrix(0, 0));
    ASSERT_TRUE(factor.has_value());
    Eigen::Index size = 0;
    for (; size + step <= n; size += step) {
      ASSERT_TRUE(factor->append(a.block(0, size, size, step), a.block(size, size, step, step)));
    }
    const Matrix lower = factor->lower();
    EXPECT_LE((lower * lower.transpose() - a.topLeftCorner(size, size)).norm(), kRounding * (1.0 + a.norm())) << step;
  }
}

TEST(Cholesky, PopUndoesAppendToTheLastBit) {
  Rng rng(5);
  const Matrix a = positive_definite(50, rng);
  Cholesky factor = *Cholesky::factor(a.topLeftCorner(40, 40));
  const Matrix before = factor.lower();
  ASSERT_TRUE(factor.append(a.topRightCorner(40, 10), a.bottomRightCorner(10, 10)));
  factor.pop(10);
  EXPECT_EQ(Matrix(factor.lower()), before);
  EXPECT_EQ(factor.jitter(), 0.0);
}

TEST(Cholesky, AppendOfAnIndefiniteBlockChangesNothing) {
  Cholesky factor = *Cholesky::factor(Matrix::Identity(2, 2));
  EXPECT_FALSE(factor.append(Matrix::Constant(2, 1, 5.0), Matrix::Constant(1, 1, 1.0)));
  EXPECT_EQ(factor.size(), 2);
}

}  // namespace
}  // namespace bapi
