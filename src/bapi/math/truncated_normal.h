#pragma once

#include <vector>

#include "bapi/math/types.h"

// The multivariate normal distribution on a box, in two forms: with its covariance, and whitened, c = mean + factor
// zeta with a lower triangular factor. Bounds may be infinite.
namespace bapi {

struct TruncatedNormal {
  Vector mean;        // s
  Matrix covariance;  // s x s, positive definite
  Vector lower;       // s
  Vector upper;       // s; empty for +infinity everywhere

  void validate() const;  // InvalidInput on shapes that do not fit or an empty box
};

struct TruncatedMoments {
  double log_probability = 0.0;  // of the box
  double relative_error = 0.0;   // of the probability: estimated standard error, 0 for closed forms and quadrature
  Vector mean;                   // of c given the box
  Matrix covariance;
};

struct MomentOptions {
  // Up to this dimension (at most 4) by nested Gauss-Legendre quadrature, some 1e-10 accurate; beyond it by
  // quasi-random points. Each further dimension multiplies the work by about 70.
  int quadrature_dimensions = 3;

  // Number of quasi-random points, rounded up to a power of two.
  int points = 512;

  void validate() const;
};

// Probability, mean and covariance. Deterministic.
TruncatedMoments truncated_moments(const TruncatedNormal& distribution, const MomentOptions& options = {});

// The same distribution whitened. Only the lower triangle of `factor` is read.
struct WhitenedBox {
  Vector mean;
  Matrix factor;
  Vector lower;
  Vector upper;
};

// An order of the variables in which separation of variables works well: repeatedly the one whose interval is least
// likely given the truncated means of those already taken (Genz and Bretz).
std::vector<int> variable_order(const TruncatedNormal& distribution);

// `distribution` with its variables in the given order, whitened.
WhitenedBox whiten(const TruncatedNormal& distribution, const std::vector<int>& order);

// Shift of the sampling density that minimises the largest weight (Botev 2017). shift has 0 in its last place.
struct MinimaxTilt {
  Vector point;            // x: the saddle point's other half
  Vector shift;            // mu: draw coordinate k from N(mu_k, 1)
  double log_bound = 0.0;  // psi*: no log-weight exceeds it
  bool converged = false;  // otherwise shift is 0 and log_bound is meaningless
};
MinimaxTilt minimax_tilt(const WhitenedBox& box);

// Draws by separation of variables: coordinate after coordinate, each from its conditional interval by inversion.
struct WeightedDraws {
  Matrix zeta;         // N x s, whitened
  Vector log_weights;  // N; log P(box) is the log of the mean weight, expectations are weighted averages
};
WeightedDraws separate_variables(const WhitenedBox& box, const Matrix& uniforms, const Vector& shift);

// Effective number of draws, (sum w)^2 / sum w^2.
double effective_size(const Vector& log_weights);

// log(mean(exp(log_weights))).
double log_mean_exp(const Vector& log_weights);

// exp(log_weights) normalised to sum 1.
Vector normalised_weights(const Vector& log_weights);

}  // namespace bapi
