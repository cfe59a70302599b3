#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "bapi/acquisition/improvement.h"
#include "bapi/gp/log_likelihood.h"
#include "bapi/gp/monotone_gp.h"
#include "bapi/math/box_quadrature.h"
#include "bapi/math/normal.h"

// Quantities that no decision needs, but that reference values are given for.
namespace bapi {

// Of log_parameters(), in its order.
inline std::vector<std::string> log_parameter_names(const GpParameters& structure) {
  std::vector<std::string> names{"log_s2"};
  for (Eigen::Index j = 0; j < structure.kernel.space.lengthscales.size(); ++j) {
    names.push_back(fmt::format("log_ell_x{}", j));
  }
  const TimeKernel& time = structure.kernel.time;
  for (const TimeParameter& parameter : time.form().parameters(time)) {
    names.push_back(fmt::format("log_{}", parameter.name));
  }
  if (structure.kernel.own_amplitude > 0.0) names.push_back("log_own");
  names.push_back("log_noise");
  return names;
}

// A constraint at given times, with given variances.
inline SlopeConstraint slope_constraint_at(Vector tau, Vector noise) {
  SlopeConstraint constraint;
  constraint.tau = std::move(tau);
  constraint.noise = std::move(noise);
  return constraint;
}

// log p(C): of the constraint before any data.
inline double log_prior_probability(const MonotoneGp& posterior, const MomentOptions& options = {}) {
  const Constraint& constraint = posterior.constraint();
  Matrix covariance = posterior.gp().covariance().gram(constraint.rows);
  covariance.diagonal() += constraint.noise;
  return truncated_moments({.mean = posterior.gp().prior_mean(constraint.rows),
                            .covariance = covariance,
                            .lower = constraint.lower,
                            .upper = {}},
                           options)
      .log_probability;
}

// EI of one value row under the constraint, from the constrained mean and variance as if f were Gaussian.
inline double log_moment_matched_improvement(const MonotoneGp& posterior, const Rows& row, double best) {
  const Moments moments = posterior.predict(row);
  return log_expected_improvement(moments.mean[0], std::sqrt(moments.variance[0]), best);
}

// P(Z1 > h, Z2 > k) for standard normals of correlation rho in [-1, 1].
inline double bivariate_normal_tail(double h, double k, double rho) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  if (h == -kInfinity) return normal_tail(k);
  if (k == -kInfinity) return normal_tail(h);
  if (rho == 1.0) return normal_tail(std::max(h, k));
  if (rho == -1.0) return std::max(0.0, normal_cdf(-k) - normal_cdf(h));
  if (h < k) std::swap(h, k);
  SmallMatrix factor(2, 2);
  factor << 1.0, 0.0, rho, std::sqrt((1.0 - rho) * (1.0 + rho));
  SmallVector lower(2);
  lower << h, k;
  return std::exp(box_moments(factor, lower, SmallVector::Constant(2, kInfinity)).log_probability);
}

}  // namespace bapi
