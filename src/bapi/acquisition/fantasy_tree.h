#pragma once

#include <span>
#include <vector>

#include "bapi/math/gauss_hermite.h"
#include "bapi/math/types.h"

namespace bapi {

// What might be observed at a decision point, in standard normal units: of the value, and of the logarithm of the cost
// for trees that look at costs.
struct Fantasy {
  double value = 0.0;
  double cost = 0.0;
  double weight = 1.0;
};

// The shape of a look-ahead over several decisions. Every node is a point to be decided upon; its branches are the
// fantasies of what is observed there, the same ones at every node of a stage; at the end of each branch stands the
// next decision. Node 0 is the root, parents come before their children.
class FantasyTree {
 public:
  // stages[k] holds the fantasies after decision k; there is one decision more than stages.
  explicit FantasyTree(const std::vector<std::vector<Fantasy>>& stages);

  // One fantasy per decision, at the posterior mean: the decisions form a line.
  static FantasyTree path(int steps);

  int nodes() const { return static_cast<int>(weights_.size()); }
  int stage(int node) const { return first_pair_[index(node) + 1] - first_pair_[index(node)]; }  // decisions before it
  double weight(int node) const { return weights_[index(node)]; }                                // of its path

  // The nodes above, the root first, and the fantasies taken there on the way.
  std::span<const int> ancestors(int node) const { return slice(ancestors_, node); }
  std::span<const double> value_normals(int node) const { return slice(value_normals_, node); }
  std::span<const double> cost_normals(int node) const { return slice(cost_normals_, node); }

  // Pairs of a node and one of its ancestors are numbered: those of a node follow each other, the root first.
  int pairs() const { return static_cast<int>(ancestors_.size()); }
  int first_pair(int node) const { return first_pair_[index(node)]; }

 private:
  static std::size_t index(int node) { return static_cast<std::size_t>(node); }

  template <typename T>
  std::span<const T> slice(const std::vector<T>& all, int node) const {
    return std::span<const T>(all).subspan(index(first_pair(node)), index(stage(node)));
  }

  std::vector<double> weights_;
  std::vector<int> first_pair_ = {0};
  std::vector<int> ancestors_;
  std::vector<double> value_normals_;
  std::vector<double> cost_normals_;
};

// The nodes of a quadrature rule as fantasies of the value.
std::vector<Fantasy> fantasies(const NormalQuadrature& rule);

// Joint moments of the latent values at a tree's points, before any fantasy. Covariances only between a node and its
// ancestors: no others matter. Also used for derivatives in these numbers.
struct TreeMoments {
  Vector mean;        // by node
  Vector variance;    // by node
  Vector covariance;  // by pair

  static TreeMoments zero(const FantasyTree& tree);
};

// Each node's row of the Cholesky factor of its path, observation noise on the diagonal:
//
//   r_jl  = (C_ja - sum_{q<l} r_jq r_aq) / d_a     for the ancestors a of j, l being a's place on the path
//   s2_j  = C_jj - sum_l r_jl^2                    latent variance of j given what was observed at its ancestors
//   d_j   = sqrt(s2_j + noise)                     deviation of an observation at j
//
// Fantasies in standard normal units z need no further solve: given them the mean at j is mean_j + sum_l r_jl z_l.
class TreePaths {
 public:
  // Latent variances are at least `floor`.
  TreePaths(const FantasyTree& tree, const TreeMoments& moments, double noise, double floor = 1e-9);

  const Vector& rows() const { return rows_; }            // r, by pair
  const Vector& variance() const { return variance_; }    // s2, by node
  const Vector& deviation() const { return deviation_; }  // d, by node
  double conditional_mean(int node, std::span<const double> normals) const;

  // Derivatives of a function in the conditional means, s2, d and r, collected by its author.
  struct Slopes {
    Vector mean;
    Vector variance;
    Vector deviation;
    Vector rows;

    static Slopes zero(const FantasyTree& tree);
    // Adds `slope` to the derivative in conditional_mean(node, normals).
    void add_mean(const FantasyTree& tree, int node, std::span<const double> normals, double slope);
  };

  // The same function's derivatives in the moments that the paths were made from.
  TreeMoments pull_back(Slopes slopes) const;

 private:
  const FantasyTree* tree_;
  const TreeMoments* moments_;
  Vector rows_;
  Vector variance_;
  Vector deviation_;
  std::vector<bool> floored_;
};

}  // namespace bapi
