#include "bapi/acquisition/tree_improvement.h"

#include <gtest/gtest.h>

#include <cmath>

#include "bapi/acquisition/improvement.h"
#include "bapi/base/rng.h"
#include "bapi/math/normal.h"
#include "bapi/math/quasi_random.h"

namespace bapi {
namespace {

constexpr double kBest = 0.5;
constexpr double kExact = 0.317609;  // joint improvement of two points with correlation 1/2, by fine quadrature

// Two decisions: the second point, whatever was observed at the first, has covariance 1/2 with it.
TreeBelief two_points(const FantasyTree& tree, double noise = 0.0) {
  return {.moments = {.mean = Vector::Zero(tree.nodes()),
                      .variance = Vector::Ones(tree.nodes()),
                      .covariance = Vector::Constant(tree.pairs(), 0.5)},
          .noise = noise};
}

double with_nodes(int n, double noise = 0.0) {
  const FantasyTree tree({fantasies(gauss_hermite(n))});
  return multi_step_improvement(tree, two_points(tree, noise), kBest);
}

TEST(MultiStepImprovement, OfOneDecisionIsTheExpectedImprovement) {
  const FantasyTree one({});
  EXPECT_NEAR(multi_step_improvement(one, two_points(one), kBest), 0.197797, 1e-6);
  const TreeBelief far{.moments = {Vector::Constant(1, -4.0), Vector::Constant(1, 0.04), Vector(0)}, .noise = 0.1};
  EXPECT_DOUBLE_EQ(multi_step_improvement(one, far, 0.0), expected_improvement(-4.0, 0.2, 0.0));
}

TEST(MultiStepImprovement, HasThePublishedValuesForTwoPoints) {
  const FantasyTree path = FantasyTree::path(2);
  EXPECT_NEAR(multi_step_improvement(path, two_points(path), kBest), 0.349325, 1e-6);
  EXPECT_NEAR(with_nodes(3), 0.314379, 1e-6);
  EXPECT_NEAR(with_nodes(3, 0.01), 0.314488, 1e-6);
  EXPECT_NEAR(with_nodes(5), 0.310387, 1e-6);
  EXPECT_NEAR(with_nodes(10), 0.327883, 1e-6);
  EXPECT_NEAR(with_nodes(20), 0.317835, 1e-6);
  EXPECT_NEAR(with_nodes(64), kExact, 2e-4);
  const FantasyTree light({fantasies(pruned(gauss_hermite(10), 1e-3))});
  EXPECT_NEAR(multi_step_improvement(light, two_points(light), kBest), 0.328076, 1e-6);
}

// Whether the derivatives in all moments agree with central differences.
void expect_slopes(const std::function<double(const TreeMoments&)>& value,
                   const TreeMoments& at,
                   const TreeMoments& slopes) {
  for (Vector TreeMoments::*part : {&TreeMoments::mean, &TreeMoments::variance, &TreeMoments::covariance}) {
    for (Eigen::Index i = 0; i < (at.*part).size(); ++i) {
      const double h = 1e-6;
      TreeMoments up = at;
      TreeMoments down = at;
      (up.*part)[i] += h;
      (down.*part)[i] -= h;
      const double difference = (value(up) - value(down)) / (2.0 * h);
      EXPECT_NEAR((slopes.*part)[i], difference, 1e-6 * std::max(1e-2, std::abs(difference)));
    }
  }
}

TreeMoments random_moments(const FantasyTree& tree, double level, Rng& rng) {
  TreeMoments moments = TreeMoments::zero(tree);
  for (double& m : moments.mean) m = level + 0.3 * rng.normal();
  for (double& v : moments.variance) v = 0.8 + 0.4 * rng.uniform();
  for (double& c : moments.covariance) c = 0.1 + 0.3 * rng.uniform();
  return moments;
}

// The same second point whatever the first one shows: then nothing is gained by looking first.
TEST(MultiStepImprovement, WithEqualChildrenIsTheJointImprovement) {
  const FantasyTree path = FantasyTree::path(2);
  const FantasyTree tree({fantasies(gauss_hermite(64))});
  Rng rng(1);
  const Matrix normals = normal_base_samples(4096, 1, rng).transpose();
  for (int i = 0; i < 20; ++i) {
    const TreeMoments two = random_moments(path, 0.2, rng);
    TreeMoments equal{.mean = Vector::Constant(tree.nodes(), two.mean[1]),
                      .variance = Vector::Constant(tree.nodes(), two.variance[1]),
                      .covariance = Vector::Constant(tree.pairs(), two.covariance[0])};
    equal.mean[0] = two.mean[0];
    equal.variance[0] = two.variance[0];
    EXPECT_NEAR(multi_step_improvement(tree, {equal, 0.0}, kBest), joint_improvement(path, two, kBest, normals), 2e-3);
  }
  EXPECT_NEAR(joint_improvement(path, two_points(path).moments, kBest, normals), kExact, 1e-4);
}

std::vector<std::vector<Fantasy>> random_stages(int stages, Rng& rng) {
  std::vector<std::vector<Fantasy>> all;
  for (int k = 0; k < stages; ++k) {
    std::vector<Fantasy> stage;
    const int count = 1 + rng.below(3);
    for (int i = 0; i < count; ++i) stage.push_back({rng.normal(), rng.normal(), 1.0 / count});
    all.push_back(std::move(stage));
  }
  return all;
}

TEST(MultiStepImprovement, SlopesAgreeWithDifferencesOnRandomTrees) {
  Rng rng(2);
  for (int depth = 1; depth <= 4; ++depth) {
    const FantasyTree tree(random_stages(depth - 1, rng));
    const TreeMoments moments = random_moments(tree, 0.4, rng);  // near the incumbent: fantasies take its place
    const auto value = [&](const TreeMoments& at) { return multi_step_improvement(tree, {at, 0.05}, kBest); };
    const TreeScore score = multi_step_improvement_slopes(tree, {moments, 0.05}, kBest);
    EXPECT_DOUBLE_EQ(score.value, value(moments));
    expect_slopes(value, moments, score.slopes);
  }
}

TEST(BudgetedImprovement, HasThePublishedValuesForTwoSteps) {
  const FantasyTree one({});
  const FantasyTree path = FantasyTree::path(2);
  const TreeBelief values{
      .moments = {Eigen::Vector2d(0.2, 0.1), Eigen::Vector2d(0.04, 0.04), Vector::Constant(1, 0.01)}, .noise = 0.0};
  const TreeBelief costs{.moments = {Eigen::Vector2d(std::log(3.0), std::log(2.0)),
                                     Eigen::Vector2d(0.04, 0.09),
                                     Vector::Constant(1, 0.02)},
                         .noise = 0.0};
  EXPECT_NEAR(budgeted_improvement(path, values, 0.25, costs, 4.0), 0.0531382, 1e-7);
  const auto first = [](const TreeBelief& b) {
    return TreeBelief{.moments = {b.moments.mean.head(1), b.moments.variance.head(1), Vector(0)}, .noise = 0.0};
  };
  EXPECT_NEAR(multi_step_improvement(one, first(values), 0.25), 0.0572689, 1e-7);
  EXPECT_NEAR(budgeted_improvement(one, first(values), 0.25, first(costs), 4.0), 0.0529647, 1e-7);
}

TEST(BudgetedImprovement, WithUnlimitedBudgetIsTheMultiStepOne) {
  Rng rng(3);
  const FantasyTree path = FantasyTree::path(4);
  const TreeBelief values{random_moments(path, 0.0, rng), 0.02};
  const TreeBelief costs{random_moments(path, 1.0, rng), 0.02};
  EXPECT_NEAR(
      budgeted_improvement(path, values, kBest, costs, 1e12), multi_step_improvement(path, values, kBest), 1e-14);
  EXPECT_EQ(budgeted_improvement(path, values, kBest, costs, 0.9e-6), 0.0);
}

TEST(BudgetedImprovement, SlopesAgreeWithDifferencesOnRandomTrees) {
  Rng rng(4);
  for (int depth = 1; depth <= 4; ++depth) {
    const FantasyTree tree(random_stages(depth - 1, rng));
    const TreeMoments values = random_moments(tree, 0.4, rng);
    const TreeMoments costs = random_moments(tree, 0.5, rng);
    const Cost budget = 7.0;
    const BudgetedScore score = budgeted_improvement_slopes(tree, {values, 0.05}, kBest, {costs, 0.1}, budget);
    expect_slopes(
        [&](const TreeMoments& at) {
          return budgeted_improvement(tree, {at, 0.05}, kBest, {costs, 0.1}, budget);
        },
        values,
        score.value_slopes);
    expect_slopes(
        [&](const TreeMoments& at) {
          return budgeted_improvement(tree, {values, 0.05}, kBest, {at, 0.1}, budget);
        },
        costs,
        score.log_cost_slopes);
  }
}

TEST(JointImprovement, OfOnePointIsExactlyTheExpectedImprovement) {
  const FantasyTree one({});
  const TreeMoments moments{Vector::Constant(1, 0.1), Vector::Constant(1, 0.3), Vector(0)};
  EXPECT_DOUBLE_EQ(joint_improvement(one, moments, kBest, Matrix(0, 1)),
                   expected_improvement(0.1, std::sqrt(0.3), kBest));
}

TEST(JointImprovement, GrowsWithEveryPointAndDoesNotMindTheirOrder) {
  const Matrix covariance = (Matrix(3, 3) << 1.0, 0.5, 0.2, 0.5, 0.8, 0.4, 0.2, 0.4, 1.2).finished();
  const Vector mean = Eigen::Vector3d(0.2, 0.4, -0.1);
  const auto of = [&](const std::vector<int>& order) {
    const auto q = static_cast<int>(order.size());
    const FantasyTree path = FantasyTree::path(q);
    TreeMoments moments = TreeMoments::zero(path);
    for (int j = 0; j < q; ++j) {
      const int a = order[static_cast<std::size_t>(j)];
      moments.mean[j] = mean[a];
      moments.variance[j] = covariance(a, a);
      for (int l = 0; l < j; ++l)
        moments.covariance[path.first_pair(j) + l] = covariance(a, order[static_cast<std::size_t>(l)]);
    }
    Rng rng(6);
    return joint_improvement(path, moments, kBest, normal_base_samples(8192, q - 1, rng).transpose());
  };
  EXPECT_NEAR(of({0, 1, 2}), of({2, 0, 1}), 1e-3);
  EXPECT_NEAR(of({0, 1, 2}), of({1, 2, 0}), 1e-3);
  EXPECT_GT(of({0, 1}), of({0}));
  EXPECT_GT(of({0, 1, 2}), of({0, 1}) + 1e-3);
}

TEST(JointImprovement, SurvivesDuplicatePoints) {
  const FantasyTree path = FantasyTree::path(3);
  const TreeMoments same{Vector::Zero(3), Vector::Ones(3), Vector::Ones(3)};
  Rng rng(7);
  const Matrix normals = normal_base_samples(4096, 2, rng).transpose();
  const TreeScore score = joint_improvement_slopes(path, same, kBest, normals);
  EXPECT_NEAR(score.value, expected_improvement(0.0, 1.0, kBest), 1e-3);
  EXPECT_TRUE(score.slopes.mean.allFinite() && score.slopes.variance.allFinite() &&
              score.slopes.covariance.allFinite());
}

TEST(JointImprovement, SlopesAgreeWithDifferences) {
  Rng rng(8);
  for (int q = 1; q <= 5; ++q) {
    const FantasyTree path = FantasyTree::path(q);
    const TreeMoments moments = random_moments(path, 0.2, rng);
    const Matrix normals = normal_base_samples(64, q - 1, rng).transpose();
    const TreeScore score = joint_improvement_slopes(path, moments, kBest, normals);
    expect_slopes(
        [&](const TreeMoments& at) { return joint_improvement(path, at, kBest, normals); }, moments, score.slopes);
  }
}

}  // namespace
}  // namespace bapi
