#include "bapi/math/gauss_hermite.h"

#include <fmt/core.h>

#include <Eigen/Eigenvalues>
#include <cmath>
#include <vector>

#include "bapi/base/error.h"

namespace bapi {

// Golub and Welsch: nodes are the eigenvalues of the symmetric tridiagonal matrix of the recurrence
// He_{k+1} = z He_k - k He_{k-1}, weights the squared first components of its eigenvectors.
NormalQuadrature gauss_hermite(int n) {
  require(n >= 1 && n <= 64, fmt::format("gauss_hermite: {} nodes, must be from 1 to 64", n));
  Matrix recurrence = Matrix::Zero(n, n);
  for (int k = 1; k < n; ++k) {
    recurrence(k, k - 1) = std::sqrt(static_cast<double>(k));
    recurrence(k - 1, k) = recurrence(k, k - 1);
  }
  const Eigen::SelfAdjointEigenSolver<Matrix> solver(recurrence);
  check(solver.info() == Eigen::Success, "gauss_hermite: the eigenvalues do not converge");
  NormalQuadrature rule{solver.eigenvalues(), solver.eigenvectors().row(0).cwiseAbs2().transpose()};
  // The rule is symmetric; rounding is not.
  for (int i = 0; i < n / 2; ++i) {
    const double node = 0.5 * (rule.nodes[n - 1 - i] - rule.nodes[i]);
    const double weight = 0.5 * (rule.weights[n - 1 - i] + rule.weights[i]);
    rule.nodes[i] = -node;
    rule.nodes[n - 1 - i] = node;
    rule.weights[i] = weight;
    rule.weights[n - 1 - i] = weight;
  }
  if (n % 2 == 1) rule.nodes[n / 2] = 0.0;
  return rule;
}

NormalQuadrature pruned(const NormalQuadrature& rule, double smallest) {
  std::vector<Eigen::Index> kept;
  for (Eigen::Index i = 0; i < rule.weights.size(); ++i) {
    if (rule.weights[i] >= smallest) kept.push_back(i);
  }
  require(!kept.empty(), fmt::format("quadrature: no weight reaches {}", smallest));
  const Vector weights = rule.weights(kept);
  return {rule.nodes(kept), weights / weights.sum()};
}

}  // namespace bapi
