#include "bapi/acquisition/tree_posterior.h"

#include <utility>

#include "bapi/base/error.h"

namespace bapi {

TreePosterior::TreePosterior(const ExactGp& gp, const FantasyTree& tree, const Standardization& unit)
    : gp_(gp), tree_(tree), unit_mean_(unit.mean), unit_scale_(unit.scale) {
  const ProductKernel& kernel = gp.parameters().kernel;
  check(kernel.time.kind == TimeKind::constant && kernel.own_amplitude == 0.0,
        "tree posterior: the model is not one of configurations alone");
}

TreePosterior::Pairs TreePosterior::pairs(const Matrix& points) const {
  const ProductKernel& kernel = gp_.parameters().kernel;
  const Eigen::Index d = kernel.space.lengthscales.size();
  const Vector inverse = kernel.space.lengthscales.cwiseInverse();
  Vector distances(tree_.pairs() * points.cols());
  Eigen::Index next = 0;
  for (Eigen::Index t = 0; t < points.cols(); ++t) {
    for (int j = 0; j < tree_.nodes(); ++j) {
      const auto x = points.col(t).segment(j * d, d);
      for (const int a : tree_.ancestors(j)) {
        distances[next++] = (x - points.col(t).segment(a * d, d)).cwiseProduct(inverse).squaredNorm();
      }
    }
  }
  Vector k(distances.size());
  Vector g(distances.size());
  kernel.space.correlations_and_factors(distances, k, g);
  return {.covariance = kernel.amplitude * k.reshaped(tree_.pairs(), points.cols()),
          .factor = kernel.amplitude * g.reshaped(tree_.pairs(), points.cols())};
}

TreePosterior::At TreePosterior::at(const Matrix& points) const {
  const Eigen::Index d = gp_.parameters().kernel.space.lengthscales.size();
  const Eigen::Index nodes = tree_.nodes();
  check(points.rows() == d * nodes, "tree posterior: the points do not fit the tree");
  At at{.points = points, .rows = Rows::at_configurations(points.reshaped(d, nodes * points.cols()).transpose())};
  at.whitened = gp_.whitened_cross(at.rows);
  const Matrix prior = pairs(points).covariance;
  const Vector means = gp_.prior_mean(at.rows) + at.whitened.transpose() * gp_.residual();
  const Vector variances = remaining_variance(gp_.covariance().variances(at.rows), at.whitened);
  const double square = unit_scale_ * unit_scale_;
  for (Eigen::Index t = 0; t < points.cols(); ++t) {
    TreeBelief belief{.moments = {.mean = means.segment(t * nodes, nodes) * unit_scale_,
                                  .variance = variances.segment(t * nodes, nodes) * square,
                                  .covariance = prior.col(t)},
                      .noise = gp_.parameters().noise * square};
    belief.moments.mean.array() += unit_mean_;
    for (int j = 0; j < tree_.nodes(); ++j) {
      Eigen::Index pair = tree_.first_pair(j);
      for (const int a : tree_.ancestors(j)) {
        belief.moments.covariance[pair++] -= at.whitened.col(t * nodes + j).dot(at.whitened.col(t * nodes + a));
      }
    }
    belief.moments.covariance *= square;
    at.beliefs.push_back(std::move(belief));
  }
  return at;
}

Matrix TreePosterior::pull_back(const At& at, const std::vector<TreeMoments>& slopes) const {
  const SpaceKernel& space = gp_.parameters().kernel.space;
  const Eigen::Index d = space.lengthscales.size();
  const Eigen::Index nodes = tree_.nodes();
  const Vector inverse_square = space.lengthscales.cwiseAbs2().cwiseInverse();
  const double square = unit_scale_ * unit_scale_;
  const Pairs prior = pairs(at.points);
  Matrix gradient = Matrix::Zero(at.points.rows(), at.points.cols());
  Matrix whitened_slopes(at.whitened.rows(), at.whitened.cols());
  for (Eigen::Index t = 0; t < at.points.cols(); ++t) {
    const TreeMoments& slope = slopes[static_cast<std::size_t>(t)];
    for (int j = 0; j < tree_.nodes(); ++j) {
      const Eigen::Index column = t * nodes + j;
      whitened_slopes.col(column) =
          slope.mean[j] * unit_scale_ * gp_.residual() - 2.0 * slope.variance[j] * square * at.whitened.col(column);
      int pair = tree_.first_pair(j);
      for (const int a : tree_.ancestors(j)) {
        const double g = slope.covariance[pair] * square;
        whitened_slopes.col(column) -= g * at.whitened.col(t * nodes + a);
        whitened_slopes.col(t * nodes + a) -= g * at.whitened.col(column);
        const Vector pull =
            (g * prior.factor(pair, t)) *
            (at.points.col(t).segment(a * d, d) - at.points.col(t).segment(j * d, d)).cwiseProduct(inverse_square);
        gradient.col(t).segment(j * d, d) += pull;
        gradient.col(t).segment(a * d, d) -= pull;
        ++pair;
      }
    }
  }
  if (gp_.size() > 0) {
    const Matrix weights = gp_.factor().solve_lower_transposed(std::move(whitened_slopes));
    gradient +=
        gp_.covariance().contracted_x_gradient(gp_.rows(), at.rows, weights).reshaped(d * nodes, at.points.cols());
  }
  return gradient;
}

}  // namespace bapi
