#pragma once

#include <vector>

#include "bapi/acquisition/tree_improvement.h"
#include "bapi/gp/exact_gp.h"
#include "bapi/gp/response.h"

namespace bapi {

// A Gaussian process over configurations at the points of trees. The points of a tree are one column, node after node;
// several trees at once share the solves with the data.
class TreePosterior {
 public:
  // Both are kept by reference. `unit` takes the model's standardised values back to their own unit. The kernel must
  // not depend on the epoch nor have a term of each configuration's own.
  TreePosterior(const ExactGp& gp, const FantasyTree& tree, const Standardization& unit = {});

  // Beliefs by tree, and what a gradient needs again.
  struct At {
    Matrix points;         // (d nodes) x trees
    Rows rows;             // all nodes of all trees
    Matrix whitened = {};  // L^-1 K(data, rows)
    std::vector<TreeBelief> beliefs = {};
  };
  At at(const Matrix& points) const;

  // Gradients in the points, of the shape of `points`, from derivatives in each tree's moments.
  Matrix pull_back(const At& at, const std::vector<TreeMoments>& slopes) const;

 private:
  // By pair, then tree: prior covariances, and the factors of their derivatives.
  struct Pairs {
    Matrix covariance;
    Matrix factor;
  };
  Pairs pairs(const Matrix& points) const;

  const ExactGp& gp_;
  const FantasyTree& tree_;
  double unit_mean_;
  double unit_scale_;
};

}  // namespace bapi
