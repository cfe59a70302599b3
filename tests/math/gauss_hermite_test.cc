#include "bapi/math/gauss_hermite.h"

#include <gtest/gtest.h>

#include <cmath>

#include "bapi/base/error.h"

namespace bapi {
namespace {

TEST(GaussHermite, HasThePublishedNodesAndWeights) {
  const NormalQuadrature three = gauss_hermite(3);
  EXPECT_NEAR(three.nodes[0], -std::sqrt(3.0), 1e-14);
  EXPECT_EQ(three.nodes[1], 0.0);
  EXPECT_NEAR(three.weights[0], 1.0 / 6.0, 1e-14);
  EXPECT_NEAR(three.weights[1], 2.0 / 3.0, 1e-14);

  const NormalQuadrature five = gauss_hermite(5);
  EXPECT_NEAR(five.nodes[3], 1.355626, 1e-6);
  EXPECT_NEAR(five.nodes[4], 2.856970, 1e-6);
  EXPECT_NEAR(five.weights[2], 0.533333, 1e-6);
  EXPECT_NEAR(five.weights[3], 0.222076, 1e-6);
  EXPECT_NEAR(five.weights[4], 0.011257, 1e-6);

  const NormalQuadrature ten = gauss_hermite(10);
  const double nodes[] = {0.484936, 1.465989, 2.484326, 3.581823, 4.859463};
  const double weights[] = {0.344642, 0.135484, 0.0191116, 7.58e-4, 4.3e-6};
  for (int i = 0; i < 5; ++i) {
    EXPECT_NEAR(ten.nodes[5 + i], nodes[i], 1e-6);
    EXPECT_NEAR(ten.weights[5 + i], weights[i], 1e-3 * weights[i] + 1e-7);
  }
}

TEST(GaussHermite, IsExactForPolynomialsBelowTwiceItsNodes) {
  for (const int n : {1, 2, 5, 10, 20}) {
    const NormalQuadrature rule = gauss_hermite(n);
    double moment = 1.0;  // E Z^k = (k - 1)!! for even k
    for (int k = 0; k < std::min(2 * n, 16); k += 2) {
      if (k > 0) moment *= k - 1;
      EXPECT_NEAR(rule.weights.dot(rule.nodes.array().pow(k).matrix()), moment, 1e-10 * moment) << n << " nodes, " << k;
    }
  }
  EXPECT_THROW(gauss_hermite(0), InvalidInput);
}

TEST(GaussHermite, PruningDropsLightNodesAndKeepsTheSum) {
  const NormalQuadrature rule = pruned(gauss_hermite(10), 1e-3);
  EXPECT_EQ(rule.nodes.size(), 6);
  EXPECT_NEAR(rule.weights.sum(), 1.0, 1e-15);
  EXPECT_THROW(pruned(gauss_hermite(10), 0.9), InvalidInput);
}

}  // namespace
}  // namespace bapi
