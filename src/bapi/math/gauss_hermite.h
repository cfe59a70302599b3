#pragma once

#include "bapi/math/types.h"

namespace bapi {

// Quadrature for a standard normal variable: E f(Z) = sum_i weights(i) f(nodes(i)), exact for polynomials of degree
// below 2 n. Nodes ascend, weights sum to 1.
struct NormalQuadrature {
  Vector nodes;
  Vector weights;
};
NormalQuadrature gauss_hermite(int n);  // n from 1 to 64

// The nodes whose weight is at least `smallest`, their weights scaled to sum to 1 again.
NormalQuadrature pruned(const NormalQuadrature& rule, double smallest);

}  // namespace bapi
