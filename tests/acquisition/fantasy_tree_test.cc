#include "bapi/acquisition/fantasy_tree.h"

#include <gtest/gtest.h>

#include <cmath>

#include <Eigen/Dense>

#include "bapi/base/error.h"
#include "bapi/base/rng.h"

namespace bapi {
namespace {

std::vector<Fantasy> quadrature(int n) { return fantasies(gauss_hermite(n)); }

TEST(FantasyTree, HasTheSizesOfItsNamedShapes) {
  EXPECT_EQ(FantasyTree({}).nodes(), 1);
  EXPECT_EQ(FantasyTree({quadrature(10)}).nodes(), 11);
  EXPECT_EQ(FantasyTree({quadrature(10), quadrature(5)}).nodes(), 61);
  EXPECT_EQ(FantasyTree({quadrature(10), quadrature(5), quadrature(3)}).nodes(), 211);
  EXPECT_EQ(FantasyTree({fantasies(pruned(gauss_hermite(10), 1e-3)), quadrature(5), quadrature(3)}).nodes(), 127);
  EXPECT_EQ(FantasyTree::path(4).nodes(), 4);
  EXPECT_THROW(FantasyTree(std::vector<std::vector<Fantasy>>(1)), LogicError);
}

TEST(FantasyTree, KeepsPathsFromTheRootAndTheirWeights) {
  const FantasyTree tree({quadrature(3), quadrature(2)});
  Vector weight_of_stage = Vector::Zero(3);
  for (int j = 0; j < tree.nodes(); ++j) {
    weight_of_stage[tree.stage(j)] += tree.weight(j);
    const std::span<const int> above = tree.ancestors(j);
    ASSERT_EQ(std::ssize(above), tree.stage(j));
    if (!above.empty()) {
      EXPECT_EQ(above.front(), 0);
    }
    for (std::size_t l = 0; l < above.size(); ++l) {
      EXPECT_EQ(tree.stage(above[l]), static_cast<int>(l));
      // The way to an ancestor is the beginning of the way to the node.
      for (std::size_t q = 0; q < l; ++q) EXPECT_EQ(tree.ancestors(above[l])[q], above[q]);
    }
  }
  EXPECT_NEAR((weight_of_stage - Vector::Ones(3)).norm(), 0.0, 1e-14);
}

TEST(TreePaths, ConditionLikeGaussianVariables) {
  // Three points in line against brute-force conditioning.
  const FantasyTree path({{Fantasy{.value = 0.7}}, {Fantasy{.value = -1.1}}});
  const double noise = 0.05;
  const TreeMoments moments{.mean = Eigen::Vector3d(0.1, 0.2, -0.3),
                            .variance = Eigen::Vector3d(1.0, 0.8, 0.9),
                            .covariance = Eigen::Vector3d(0.5, 0.3, 0.4)};  // (1,0), (2,0), (2,1)
  const TreePaths paths(path, moments, noise);
  const double y0 = 0.1 + std::sqrt(1.0 + noise) * 0.7;
  EXPECT_NEAR(paths.conditional_mean(1, path.value_normals(1)), 0.2 + 0.5 / 1.05 * (y0 - 0.1), 1e-14);
  const double y1 = paths.conditional_mean(1, path.value_normals(1)) - 1.1 * paths.deviation()[1];
  const Eigen::Matrix2d data = (Eigen::Matrix2d() << 1.05, 0.5, 0.5, 0.85).finished();
  const Eigen::Vector2d gain = data.ldlt().solve(Eigen::Vector2d(0.3, 0.4));
  EXPECT_NEAR(
      paths.conditional_mean(2, path.value_normals(2)), -0.3 + gain.dot(Eigen::Vector2d(y0 - 0.1, y1 - 0.2)), 1e-14);
  EXPECT_NEAR(paths.variance()[2], 0.9 - gain.dot(Eigen::Vector2d(0.3, 0.4)), 1e-14);
}

TEST(TreePaths, PullBackIsTheTransposeOfTheDerivative) {
  const FantasyTree tree({quadrature(2), quadrature(3), quadrature(1)});
  Rng rng(5);
  TreeMoments moments = TreeMoments::zero(tree);
  moments.variance.setConstant(1.0);
  for (double& c : moments.covariance) c = 0.2 + 0.2 * rng.uniform();
  TreePaths::Slopes slopes = TreePaths::Slopes::zero(tree);
  for (Vector* part : {&slopes.variance, &slopes.deviation, &slopes.rows}) {
    for (double& s : *part) s = rng.normal();
  }
  const auto value = [&](const TreeMoments& at) {
    const TreePaths paths(tree, at, 0.1);
    return slopes.variance.dot(paths.variance()) + slopes.deviation.dot(paths.deviation()) +
           slopes.rows.dot(paths.rows());
  };
  const TreeMoments gradient = TreePaths(tree, moments, 0.1).pull_back(slopes);
  const double h = 1e-6;
  for (int i = 0; i < tree.pairs(); ++i) {
    TreeMoments up = moments;
    TreeMoments down = moments;
    up.covariance[i] += h;
    down.covariance[i] -= h;
    EXPECT_NEAR(gradient.covariance[i], (value(up) - value(down)) / (2.0 * h), 1e-7);
  }
  for (int i = 0; i < tree.nodes(); ++i) {
    TreeMoments up = moments;
    TreeMoments down = moments;
    up.variance[i] += h;
    down.variance[i] -= h;
    EXPECT_NEAR(gradient.variance[i], (value(up) - value(down)) / (2.0 * h), 1e-7);
  }
}

}  // namespace
}  // namespace bapi
