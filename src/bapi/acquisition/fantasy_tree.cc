#include "bapi/acquisition/fantasy_tree.h"

#include <cmath>

#include "bapi/base/error.h"

namespace bapi {

FantasyTree::FantasyTree(const std::vector<std::vector<Fantasy>>& stages) {
  const auto add = [&](int parent, const Fantasy& taken, double weight) {
    if (parent >= 0) {
      const auto first = static_cast<std::size_t>(first_pair(parent));
      const auto last = first + static_cast<std::size_t>(stage(parent));
      for (std::size_t k = first; k < last; ++k) {
        ancestors_.push_back(ancestors_[k]);
        value_normals_.push_back(value_normals_[k]);
        cost_normals_.push_back(cost_normals_[k]);
      }
      ancestors_.push_back(parent);
      value_normals_.push_back(taken.value);
      cost_normals_.push_back(taken.cost);
    }
    first_pair_.push_back(static_cast<int>(ancestors_.size()));
    weights_.push_back(weight);
  };
  add(-1, {}, 1.0);
  int first = 0;
  for (const std::vector<Fantasy>& stage : stages) {
    check(!stage.empty(), "fantasy tree: a stage has no fantasies");
    const int end = nodes();
    for (int parent = first; parent < end; ++parent) {
      for (const Fantasy& taken : stage) add(parent, taken, weight(parent) * taken.weight);
    }
    first = end;
  }
}

FantasyTree FantasyTree::path(int steps) {
  check(steps >= 1, "fantasy tree: a path has at least one step");
  return FantasyTree(std::vector<std::vector<Fantasy>>(static_cast<std::size_t>(steps - 1), {Fantasy{}}));
}

std::vector<Fantasy> fantasies(const NormalQuadrature& rule) {
  std::vector<Fantasy> all;
  for (Eigen::Index i = 0; i < rule.nodes.size(); ++i) {
    all.push_back({.value = rule.nodes[i], .cost = 0.0, .weight = rule.weights[i]});
  }
  return all;
}

TreeMoments TreeMoments::zero(const FantasyTree& tree) {
  return {Vector::Zero(tree.nodes()), Vector::Zero(tree.nodes()), Vector::Zero(tree.pairs())};
}

TreePaths::TreePaths(const FantasyTree& tree, const TreeMoments& moments, double noise, double floor)
    : tree_(&tree),
      moments_(&moments),
      rows_(tree.pairs()),
      variance_(tree.nodes()),
      deviation_(tree.nodes()),
      floored_(static_cast<std::size_t>(tree.nodes()), false) {
  for (int j = 0; j < tree.nodes(); ++j) {
    const std::span<const int> above = tree.ancestors(j);
    double* row = rows_.data() + tree.first_pair(j);
    double variance = moments.variance[j];
    for (std::size_t l = 0; l < above.size(); ++l) {
      const double* other = rows_.data() + tree.first_pair(above[l]);
      double rest = moments.covariance[tree.first_pair(j) + static_cast<int>(l)];
      for (std::size_t q = 0; q < l; ++q) rest -= row[q] * other[q];
      row[l] = rest / deviation_[above[l]];
      variance -= row[l] * row[l];
    }
    floored_[static_cast<std::size_t>(j)] = variance < floor;
    variance_[j] = std::max(variance, floor);
    deviation_[j] = std::sqrt(variance_[j] + noise);
  }
}

double TreePaths::conditional_mean(int node, std::span<const double> normals) const {
  const double* row = rows_.data() + tree_->first_pair(node);
  double mean = moments_->mean[node];
  for (std::size_t l = 0; l < normals.size(); ++l) mean += row[l] * normals[l];
  return mean;
}

TreePaths::Slopes TreePaths::Slopes::zero(const FantasyTree& tree) {
  return {
      Vector::Zero(tree.nodes()), Vector::Zero(tree.nodes()), Vector::Zero(tree.nodes()), Vector::Zero(tree.pairs())};
}

void TreePaths::Slopes::add_mean(const FantasyTree& tree, int node, std::span<const double> normals, double slope) {
  mean[node] += slope;
  double* row = rows.data() + tree.first_pair(node);
  for (std::size_t l = 0; l < normals.size(); ++l) row[l] += slope * normals[l];
}

// Children before parents: what a node's row passes on to its ancestors' rows must be complete when they are visited.
TreeMoments TreePaths::pull_back(Slopes slopes) const {
  const FantasyTree& tree = *tree_;
  TreeMoments result{std::move(slopes.mean), Vector(tree.nodes()), Vector(tree.pairs())};
  for (int j = tree.nodes() - 1; j >= 0; --j) {
    const std::span<const int> above = tree.ancestors(j);
    const int first = tree.first_pair(j);
    const double* row = rows_.data() + first;
    double* row_slope = slopes.rows.data() + first;
    double variance_slope = slopes.variance[j] + slopes.deviation[j] / (2.0 * deviation_[j]);
    if (floored_[static_cast<std::size_t>(j)]) variance_slope = 0.0;
    result.variance[j] = variance_slope;
    for (std::size_t l = 0; l < above.size(); ++l) row_slope[l] -= 2.0 * variance_slope * row[l];
    for (std::size_t l = above.size(); l-- > 0;) {
      const int a = above[l];
      const double* other = rows_.data() + tree.first_pair(a);
      double* other_slope = slopes.rows.data() + tree.first_pair(a);
      const double g = row_slope[l] / deviation_[a];
      slopes.deviation[a] -= g * row[l];
      for (std::size_t q = 0; q < l; ++q) {
        row_slope[q] -= g * other[q];
        other_slope[q] -= g * row[q];
      }
      result.covariance[first + static_cast<int>(l)] = g;
    }
  }
  return result;
}

}  // namespace bapi
