#include "bapi/acquisition/tree_search.h"

#include <gtest/gtest.h>

#include <cmath>

#include "bapi/acquisition/improvement.h"
#include "bapi/math/quasi_random.h"

namespace bapi {
namespace tree_search_test {

constexpr int kDim = 2;

ExactGp model(double bend) {
  GpParameters parameters;
  parameters.kernel.space = {SpaceKind::matern52, Eigen::Vector2d(0.4, 0.6)};
  parameters.kernel.time = {.kind = TimeKind::constant};
  parameters.noise = 0.01;
  Rng rng(1);
  const Matrix x = Matrix::NullaryExpr(8, kDim, [&] { return rng.uniform(); });
  const Vector y = (bend * x.col(0)).array().sin() - x.col(1).array();
  return ExactGp(Rows::at_configurations(x), y, parameters);
}

Matrix random_trees(const FantasyTree& tree, int count, std::uint64_t seed) {
  Rng rng(seed);
  return Matrix::NullaryExpr(kDim * tree.nodes(), count, [&] { return rng.uniform(); });
}

void expect_gradients(const SearchObjective& objective, const Matrix& trees) {
  Vector values(trees.cols());
  Matrix gradients(trees.rows(), trees.cols());
  objective.ascend(trees, values, gradients);
  EXPECT_NEAR((values - objective.score(trees)).norm(), 0.0, 1e-10);
  const double h = 1e-5;
  for (Eigen::Index i = 0; i < trees.size(); ++i) {
    Matrix up = trees;
    Matrix down = trees;
    up(i) += h;
    down(i) -= h;
    const double difference = (objective.score(up) - objective.score(down)).sum() / (2.0 * h);
    EXPECT_NEAR(gradients(i), difference, 1e-5 * std::max(1.0, std::abs(difference)));
  }
}

TEST(TreeSearch, GradientsOfTheThreeObjectivesAgreeWithDifferences) {
  const ExactGp values = model(5.0);
  const ExactGp costs = model(2.0);
  const FantasyTree tree({fantasies(gauss_hermite(3)), {Fantasy{.value = 0.3, .cost = -0.4}}});
  expect_gradients(multi_step_objective(values, tree, 0.2), random_trees(tree, 3, 2));
  expect_gradients(
      budgeted_objective(
          {.values = values, .best = 0.2, .log_costs = costs, .log_cost_unit = {.mean = 1.0, .scale = 0.5}}, tree, 9.0),
      random_trees(tree, 3, 3));
  const FantasyTree path = FantasyTree::path(3);
  Rng rng(4);
  const Matrix normals = normal_base_samples(32, 2, rng).transpose();
  expect_gradients(joint_objective(values, path, 0.2, normals), random_trees(path, 3, 5));
}

TEST(TreeSearch, AscentsFindBetterTreesThanTheScreen) {
  const ExactGp values = model(5.0);
  const FantasyTree tree({fantasies(gauss_hermite(3))});
  const SearchObjective objective = multi_step_objective(values, tree, 0.2);
  Rng rng(6);
  const Matrix screen = tree_screen(tree, 64, promising_points(values, 0.2, 8, rng), rng);
  const std::vector<ScoredPoint> found = search_among(objective, screen, {}, {.starts = 3});
  ASSERT_FALSE(found.empty());
  EXPECT_GT(found.front().score, objective.score(screen).maxCoeff());
}

TEST(TreeScreen, IsHalfSpreadAndHalfPutTogetherFromPromisingPoints) {
  const FantasyTree tree({fantasies(gauss_hermite(3))});
  const Matrix promising = (Matrix(2, 2) << 0.5, 0.9, 0.5, 0.1).finished();
  Rng rng(7);
  const Matrix screen = tree_screen(tree, 200, promising, rng);
  EXPECT_GE(screen.minCoeff(), 0.0);
  EXPECT_LE(screen.maxCoeff(), 1.0);
  int near = 0;
  for (Eigen::Index t = 0; t < 200; ++t) {
    bool all = true;
    for (int j = 0; j < tree.nodes(); ++j) {
      const Vector x = screen.col(t).segment(j * kDim, kDim);
      all = all && (promising.colwise() - x).colwise().norm().minCoeff() < 0.3;
    }
    if (all) ++near;
  }
  EXPECT_GE(near, 100);
  EXPECT_LT(near, 130);
}

TEST(TreeScreen, ServesTreesBeyondTheDimensionsOfTheSobolSequence) {
  const FantasyTree tree({fantasies(gauss_hermite(10)), fantasies(gauss_hermite(5)), fantasies(gauss_hermite(5))});
  ASSERT_GT(kDim * tree.nodes(), kMaxSobolDimensions);
  Rng rng(8);
  const Matrix screen = tree_screen(tree, 4, Matrix::Constant(kDim, 1, 0.5), rng);
  EXPECT_EQ(screen.rows(), kDim * tree.nodes());
  EXPECT_NEAR(screen.leftCols(2).mean(), 0.5, 0.05);
}

TEST(PromisingPoints, HaveTheLargestImprovementsBestFirst) {
  const ExactGp values = model(5.0);
  Rng rng(9);
  const Matrix points = promising_points(values, 0.2, 16, rng);
  const Moments at = values.predict(Rows::at_configurations(points.transpose()));
  double last = INFINITY;
  for (Eigen::Index i = 0; i < 16; ++i) {
    const double score = log_expected_improvement(at.mean[i], std::sqrt(at.variance[i]), 0.2);
    EXPECT_LE(score, last + 1e-12);
    last = score;
  }
}

}  // namespace tree_search_test
}  // namespace bapi
