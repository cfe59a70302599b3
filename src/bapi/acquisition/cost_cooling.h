#pragma once

#include "bapi/acquisition/search.h"
#include "bapi/acquisition/tree_search.h"

namespace bapi {

// Expected improvement per cost, the cost counting less and less as the budget goes: log of EI * E[cost^-a] for a
// log-normal cost, a being the share of the budget that is left. At a = 0 it is log EI.
double log_cooled_improvement(double log_improvement, double log_cost_mean, double log_cost_variance, double a);

// The same over the cube, with gradients; everything given is kept by reference.
SearchObjective cooled_objective(const BudgetedModels& models, double a);

}  // namespace bapi
