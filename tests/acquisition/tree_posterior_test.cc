#include "bapi/acquisition/tree_posterior.h"

#include <gtest/gtest.h>

#include <cmath>

#include "bapi/base/error.h"
#include "bapi/base/rng.h"

namespace bapi {
namespace tree_posterior_test {

constexpr int kDim = 3;

GpParameters parameters() {
  GpParameters p;
  p.kernel.amplitude = 1.3;
  p.kernel.space = {SpaceKind::matern52, Eigen::Vector3d(0.4, 0.6, 0.9)};
  p.kernel.time = {.kind = TimeKind::constant};
  p.noise = 0.02;
  return p;
}

ExactGp model(int n, std::uint64_t seed) {
  Rng rng(seed);
  Matrix x(n, kDim);
  Vector y(n);
  for (int i = 0; i < n; ++i) {
    for (int j = 0; j < kDim; ++j) x(i, j) = rng.uniform();
    y[i] = std::sin(5.0 * x(i, 0)) + x(i, 1) - x(i, 2) * x(i, 2);
  }
  return ExactGp(Rows::at_configurations(x), y, parameters());
}

Matrix random_points(Eigen::Index rows, Eigen::Index columns, Rng& rng) {
  return Matrix::NullaryExpr(rows, columns, [&] { return rng.uniform(); });
}

TEST(TreePosterior, AgreesWithTheJointPrediction) {
  const ExactGp gp = model(12, 1);
  const FantasyTree tree({{Fantasy{}, Fantasy{}}, {Fantasy{}}});
  Rng rng(2);
  const Matrix points = random_points(kDim * tree.nodes(), 2, rng);
  const TreePosterior posterior(gp, tree, {.mean = 5.0, .scale = 3.0});
  const TreePosterior::At at = posterior.at(points);
  for (int t = 0; t < 2; ++t) {
    const Matrix x = points.col(t).reshaped(kDim, tree.nodes()).transpose();
    const JointMoments joint = gp.predict_joint(Rows::at_configurations(x));
    const TreeBelief& belief = at.beliefs[static_cast<std::size_t>(t)];
    EXPECT_DOUBLE_EQ(belief.noise, 0.02 * 9.0);
    for (int j = 0; j < tree.nodes(); ++j) {
      EXPECT_NEAR(belief.moments.mean[j], 5.0 + 3.0 * joint.mean[j], 1e-12);
      EXPECT_NEAR(belief.moments.variance[j], 9.0 * joint.covariance(j, j), 1e-12);
      for (int l = 0; l < tree.stage(j); ++l) {
        EXPECT_NEAR(belief.moments.covariance[tree.first_pair(j) + l],
                    9.0 * joint.covariance(j, tree.ancestors(j)[static_cast<std::size_t>(l)]),
                    1e-12);
      }
    }
  }
}

TEST(TreePosterior, RefusesModelsOfCurves) {
  GpParameters curves = parameters();
  curves.kernel.time = {};
  const ExactGp gp(Rows::at_configurations(Matrix::Zero(1, kDim)), Vector::Zero(1), curves);
  EXPECT_THROW(TreePosterior(gp, FantasyTree::path(2)), LogicError);
}

// Depth 1 to 4 with several fantasies, incumbents that switch along the paths, with and without data.
TEST(TreePosterior, GradientsOfTheMultiStepImprovementAgreeWithDifferences) {
  Rng rng(3);
  for (const int n : {0, 15}) {
    const ExactGp gp = model(n, 4);
    for (int depth = 1; depth <= 4; ++depth) {
      std::vector<std::vector<Fantasy>> stages;
      for (int k = 1; k < depth; ++k) stages.push_back(fantasies(gauss_hermite(4 - k)));
      const FantasyTree tree(stages);
      const TreePosterior posterior(gp, tree);
      const double best = n == 0 ? 0.0 : gp.y().maxCoeff() - 0.8;
      const Matrix points = random_points(kDim * tree.nodes(), 1, rng);
      const auto value = [&](const Matrix& x) {
        return multi_step_improvement(tree, posterior.at(x).beliefs.front(), best);
      };
      const TreePosterior::At at = posterior.at(points);
      const Matrix gradient =
          posterior.pull_back(at, {multi_step_improvement_slopes(tree, at.beliefs.front(), best).slopes});
      for (Eigen::Index i = 0; i < points.rows(); ++i) {
        const double h = 1e-5;
        Matrix up = points;
        Matrix down = points;
        up(i) += h;
        down(i) -= h;
        const double difference = (value(up) - value(down)) / (2.0 * h);
        EXPECT_NEAR(gradient(i), difference, 1e-6 * std::max(0.1, std::abs(difference)))
            << "n " << n << " depth " << depth;
      }
    }
  }
}

TEST(TreePosterior, ATreeDoesNotDependOnItsCompany) {
  const ExactGp gp = model(10, 5);
  const FantasyTree tree({fantasies(gauss_hermite(3))});
  const TreePosterior posterior(gp, tree);
  Rng rng(6);
  const Matrix points = random_points(kDim * tree.nodes(), 3, rng);
  const TreePosterior::At all = posterior.at(points);
  std::vector<TreeMoments> slopes;
  for (const TreeBelief& belief : all.beliefs) {
    slopes.push_back(multi_step_improvement_slopes(tree, belief, 0.5).slopes);
  }
  const Matrix together = posterior.pull_back(all, slopes);
  for (int t = 0; t < 3; ++t) {
    const TreePosterior::At one = posterior.at(points.col(t));
    EXPECT_NEAR((posterior.pull_back(one, {slopes[static_cast<std::size_t>(t)]}) - together.col(t)).norm(), 0.0, 1e-11);
  }
}

}  // namespace tree_posterior_test
}  // namespace bapi
