#pragma once

#include "bapi/gp/monotone_gp.h"
#include "bapi/gp/surrogate.h"
#include "bapi/math/types.h"

namespace bapi {

// E max(0, f - best) for f ~ N(mean, sd^2), sd >= 0.
double expected_improvement(double mean, double sd, double best);

// Its logarithm, finite where the improvement itself underflows; -inf only for sd = 0 and mean <= best.
double log_expected_improvement(double mean, double sd, double best);

// Partial derivatives of log EI in mean and sd.
struct ImprovementSlopes {
  double log_value = 0.0;
  double mean = 0.0;
  double sd = 0.0;
};
ImprovementSlopes log_improvement_slopes(double mean, double sd, double best);

// log EI of the unconstrained posterior at rows of values, and its gradients in their x, d x q.
struct ImprovementGradients {
  Vector log_values;
  Matrix gradients;
};
ImprovementGradients log_expected_improvement(const Surrogate& model, const Rows& rows, double best);

// log EI of one value row under the constraint: E max(0, f - best) over the mixture that f is. max(0, f - best) under
// the constraint is a truncated moment with one more variable, so this is quadrature for up to 3 virtual rows and
// quasi-random points beyond.
double log_constrained_improvement(const MonotoneGp& posterior,
                                   const Rows& row,
                                   double best,
                                   const MomentOptions& options = {.quadrature_dimensions = 4, .points = 1024});

}  // namespace bapi
