#pragma once

#include "bapi/acquisition/search.h"
#include "bapi/acquisition/tree_posterior.h"

namespace bapi {

// What a search over all points of a tree climbs: the logarithm of the tree's score. Everything given is kept by
// reference. The points of a tree are one column, node after node.
SearchObjective multi_step_objective(const ExactGp& values, const FantasyTree& tree, double best);

// The models of a budgeted tree; costs in their own unit, from a model of standardised logarithms.
struct BudgetedModels {
  const ExactGp& values;
  double best = 0.0;
  const ExactGp& log_costs;
  Standardization log_cost_unit = {};
};
SearchObjective budgeted_objective(const BudgetedModels& models, const FantasyTree& tree, Cost budget);

SearchObjective joint_objective(const ExactGp& values, const FantasyTree& path, double best, const Matrix& normals);

// Points at which a search over trees may begin, (d nodes) x count: half of them spread over the cube, the other half
// put together from promising single points (d x any number) and their surroundings. Deep trees have so many
// coordinates that none drawn blindly is good at all its nodes.
Matrix tree_screen(const FantasyTree& tree, int count, const Matrix& promising, Rng& rng);

// `count` points of the cube with the largest expected improvement, of many that are spread over it; d x count.
Matrix promising_points(const Surrogate& values, double best, int count, Rng& rng);

}  // namespace bapi
