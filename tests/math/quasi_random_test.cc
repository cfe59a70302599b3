#include "bapi/math/quasi_random.h"

#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "bapi/base/error.h"

namespace bapi {
namespace {

TEST(Sobol, EveryCoordinateOfAPowerOfTwoPointsIsAPermutationOfItsCells) {
  const int n = 256;
  const Matrix u = sobol_points(n, kMaxSobolDimensions);
  for (int d = 0; d < kMaxSobolDimensions; ++d) {
    std::set<int> cells;
    for (int i = 0; i < n; ++i) cells.insert(static_cast<int>(u(i, d) * n));
    EXPECT_EQ(std::ssize(cells), n) << "dimension " << d;
  }
}

TEST(Sobol, NoTwoCoordinatesAreTheSame) {
  const Matrix u = sobol_points(1024, kMaxSobolDimensions);
  for (int d = 1; d < kMaxSobolDimensions; ++d) {
    for (int e = 0; e < d; ++e) ASSERT_GT((u.col(d) - u.col(e)).cwiseAbs().maxCoeff(), 0.0) << d << " " << e;
  }
}

TEST(Sobol, PrefixesAgree) { EXPECT_EQ(sobol_points(64, 5), sobol_points(200, 9).topLeftCorner(64, 5)); }

TEST(Sobol, ScramblingKeepsOnePointPerCellAndNeverGivesAnEnd) {
  Rng rng(3);
  const int n = 512;
  const Matrix u = scrambled_sobol_points(n, 40, rng);
  EXPECT_GT(u.minCoeff(), 0.0);
  EXPECT_LT(u.maxCoeff(), 1.0);
  for (int d = 0; d < 40; ++d) {
    std::set<int> cells;
    for (int i = 0; i < n; ++i) cells.insert(static_cast<int>(u(i, d) * n));
    EXPECT_EQ(std::ssize(cells), n);
  }
}

TEST(Sobol, ScramblingDependsOnTheStreamAlone) {
  Rng first(3);
  Rng again(3);
  Rng other(4);
  const Matrix u = scrambled_sobol_points(32, 4, first);
  EXPECT_EQ(u, scrambled_sobol_points(32, 4, again));
  EXPECT_NE(u, scrambled_sobol_points(32, 4, other));
}

TEST(Sobol, ScrambledPointsAreUniformOneByOne) {
  // The mean over many scramblings of any point is 1/2; 4 standard errors.
  const int repetitions = 4000;
  Vector mean = Vector::Zero(4);
  for (int i = 0; i < repetitions; ++i) {
    Rng rng = Rng(9).fork("scrambling", static_cast<std::uint64_t>(i));
    mean += scrambled_sobol_points(4, 1, rng).col(0) / repetitions;
  }
  for (int i = 0; i < 4; ++i) EXPECT_NEAR(mean[i], 0.5, 4.0 / std::sqrt(12.0 * repetitions));
}

TEST(Sobol, NormalBaseSamplesHaveTheMomentsOfANormal) {
  Rng rng(5);
  const Matrix z = normal_base_samples(1024, 64, rng);
  ASSERT_TRUE(z.allFinite());
  for (int d = 0; d < 64; ++d) {
    EXPECT_NEAR(z.col(d).mean(), 0.0, 5e-3);
    EXPECT_NEAR(z.col(d).squaredNorm() / 1024.0, 1.0, 3e-2);
  }
}

TEST(Sobol, CentredPointsIntegrateBetterThanRandomOnes) {
  // The integral of prod (1 + (u_d - 1/2)) over 6 dimensions is 1; random points have a standard error of 0.02.
  const Matrix u = centred_sobol_points(1024, 6);
  EXPECT_NEAR((u.array() + 0.5).rowwise().prod().mean(), 1.0, 1e-3);
}

TEST(Sobol, RefusesMoreDimensionsThanItHas) {
  EXPECT_THROW(sobol_points(4, kMaxSobolDimensions + 1), InvalidInput);
  EXPECT_THROW(sobol_points(-1, 2), InvalidInput);
  EXPECT_EQ(sobol_points(0, 3).rows(), 0);
}

}  // namespace
}  // namespace bapi
