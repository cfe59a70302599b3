#pragma once

#include "bapi/acquisition/fantasy_tree.h"
#include "bapi/base/units.h"

namespace bapi {

// What is believed of a quantity at a tree's points: the moments of its latent value and the variance of an
// observation around it.
struct TreeBelief {
  TreeMoments moments;
  double noise = 0.0;
};

// A score of one tree and its derivatives in the moments.
struct TreeScore {
  double value = 0.0;
  TreeMoments slopes = {};
};

// Expected improvement summed over all decisions of the look-ahead,
//
//   V = sum_j W_j EI(m_j, s_j; b_j),   b_j = max(best, fantasies on the path to j),
//
// m_j and s_j given the fantasies on the path, W_j the weight of the path. One node: EI itself.
double multi_step_improvement(const FantasyTree& tree, const TreeBelief& values, double best);
TreeScore multi_step_improvement_slopes(const FantasyTree& tree, const TreeBelief& values, double best);

// The same with every decision counted only as far as its cost fits the rest of a budget,
//
//   V = sum_j W_j EI_j Phi((ln B_j - mc_j) / sc_j),   B_j = budget - sum of the fantasised costs on the path to j,
//
// mc_j and sc_j being those of the logarithm of the cost. A node whose budget is gone counts 0.
struct BudgetedScore {
  double value = 0.0;
  TreeMoments value_slopes = {};
  TreeMoments log_cost_slopes = {};
};
double budgeted_improvement(
    const FantasyTree& tree, const TreeBelief& values, double best, const TreeBelief& log_costs, Cost budget);
BudgetedScore budgeted_improvement_slopes(
    const FantasyTree& tree, const TreeBelief& values, double best, const TreeBelief& log_costs, Cost budget);

// Improvement of the best of q points evaluated together, E max(0, max_j f_j - best), for the q nodes of a path. The
// first q - 1 are averaged over draws, standard normals (q - 1) x draws; the last is integrated in closed form given
// them, so the score is smooth in it and does not vanish where no draw improves.
double joint_improvement(const FantasyTree& path, const TreeMoments& moments, double best, const Matrix& normals);
TreeScore joint_improvement_slopes(const FantasyTree& path,
                                   const TreeMoments& moments,
                                   double best,
                                   const Matrix& normals);

}  // namespace bapi
