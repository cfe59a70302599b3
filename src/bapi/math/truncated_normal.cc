#include "bapi/math/truncated_normal.h"

#include <fmt/core.h>

#include <Eigen/Cholesky>
#include <Eigen/LU>
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numeric>

#include "bapi/base/error.h"
#include "bapi/math/box_quadrature.h"
#include "bapi/math/constants.h"
#include "bapi/math/normal.h"
#include "bapi/math/quasi_random.h"

namespace bapi {

namespace {

int dimension(const TruncatedNormal& distribution) { return static_cast<int>(distribution.mean.size()); }

Vector upper_of(const TruncatedNormal& distribution) {
  if (distribution.upper.size() > 0) return distribution.upper;
  return Vector::Constant(distribution.mean.size(), kInfinity);
}

Matrix lower_factor(const Matrix& covariance) {
  const Eigen::LLT<Matrix> factor(covariance);
  require(factor.info() == Eigen::Success, "truncated normal: the covariance is not positive definite");
  return factor.matrixL();
}

std::vector<int> natural_order(int n) {
  std::vector<int> order(static_cast<std::size_t>(n));
  std::iota(order.begin(), order.end(), 0);
  return order;
}

// Of moments of the variables in another order: those of the distribution itself.
TruncatedMoments in_own_order(const TruncatedMoments& ordered, const std::vector<int>& order) {
  TruncatedMoments own = ordered;
  const int s = static_cast<int>(order.size());
  for (int i = 0; i < s; ++i) {
    own.mean[order[i]] = ordered.mean[i];
    for (int j = 0; j < s; ++j) own.covariance(order[i], order[j]) = ordered.covariance(i, j);
  }
  return own;
}

TruncatedMoments moments_by_quadrature(const TruncatedNormal& distribution) {
  const std::vector<int> order = variable_order(distribution);
  const WhitenedBox box = whiten(distribution, order);
  const BoxMoments whitened = box_moments(box.factor, box.lower - box.mean, box.upper - box.mean);
  return in_own_order({.log_probability = whitened.log_probability,
                       .relative_error = 0.0,
                       .mean = box.mean + box.factor * whitened.mean,
                       .covariance = box.factor * whitened.covariance * box.factor.transpose()},
                      order);
}

TruncatedMoments moments_by_points(const TruncatedNormal& distribution, int points) {
  const int s = dimension(distribution);
  const std::vector<int> order = variable_order(distribution);
  const WhitenedBox box = whiten(distribution, order);
  const int count = static_cast<int>(std::bit_ceil(static_cast<std::uint32_t>(points)));
  const WeightedDraws draws = separate_variables(box, centred_sobol_points(count, s), minimax_tilt(box).shift);
  const Vector weights = normalised_weights(draws.log_weights);
  const Vector zeta_mean = draws.zeta.transpose() * weights;
  const Matrix centred = draws.zeta.rowwise() - zeta_mean.transpose();
  const Matrix zeta_covariance = centred.transpose() * weights.asDiagonal() * centred;
  return in_own_order({.log_probability = log_mean_exp(draws.log_weights),
                       .relative_error = std::sqrt(std::max(0.0, weights.squaredNorm() - 1.0 / count)),
                       .mean = box.mean + box.factor * zeta_mean,
                       .covariance = box.factor * zeta_covariance * box.factor.transpose()},
                      order);
}

// Minimax tilting (Botev 2017; "p(C given Y)" of docs/method.md). With c = mean + L zeta, separation of
// variables draws zeta_k from the normal N(mu_k, 1) restricted to the interval [l_k, u_k] that the bounds leave it
// given zeta_1 .. zeta_{k-1}. The log weight of a draw at zeta = x is then
//   psi(x, mu) = sum_k mu_k^2 / 2 - x_k mu_k + log P(l_k(x) - mu_k <= Z <= u_k(x) - mu_k),
// concave in x and convex in mu, so that max_x min over mu is attained where both gradients vanish: a Newton iteration
// in (x, mu), s - 1 of each as the last coordinate needs no shift. In units of the diagonal D of L, l_k(x) = lower_k -
// (M x)_k with M = D^-1 L - I.
//
// Scaled bounds and coupling of the saddle-point equations.
struct TiltProblem {
  Matrix coupling;  // M = D^-1 L - I, strictly lower
  Vector lower;
  Vector upper;
};

TiltProblem tilt_problem(const WhitenedBox& box) {
  const Vector scale = box.factor.diagonal();
  TiltProblem problem;
  problem.coupling = box.factor.triangularView<Eigen::StrictlyLower>();
  problem.coupling = scale.cwiseInverse().asDiagonal() * problem.coupling;
  problem.lower = (box.lower - box.mean).cwiseQuotient(scale);
  problem.upper = (box.upper - box.mean).cwiseQuotient(scale);
  return problem;
}

struct TiltState {
  Vector gradient;  // 2 (s - 1): in x, then in mu
  Matrix hessian;
  double psi = 0.0;
};

// log P and the first two "hazards" of an interval.
struct IntervalSlopes {
  double log_p = 0.0;
  double first = 0.0;   // (phi(l) - phi(u)) / P
  double second = 0.0;  // (l phi(l) - u phi(u)) / P - first^2
};

IntervalSlopes interval_slopes(double lower, double upper) {
  IntervalSlopes result;
  if (upper == kInfinity) {
    const NormalTail tail = normal_tail_and_hazard(lower);
    result.log_p = tail.log_tail;
    result.first = tail.hazard;
    result.second = normal_tail_moments(lower).variance - 1.0;
    return result;
  }
  result.log_p = log_normal_interval(lower, upper);
  const double at_lower = std::isinf(lower) ? 0.0 : std::exp(log_normal_pdf(lower) - result.log_p);
  const double at_upper = std::exp(log_normal_pdf(upper) - result.log_p);
  result.first = at_lower - at_upper;
  result.second = (std::isinf(lower) ? 0.0 : lower * at_lower) - upper * at_upper - result.first * result.first;
  return result;
}

TiltState tilt_state(const TiltProblem& problem, const Vector& x, const Vector& mu) {
  const auto s = x.size();
  const auto n = s - 1;
  const Vector shift = problem.coupling * x;
  Vector first(s);
  Vector second(s);
  TiltState state;
  for (Eigen::Index k = 0; k < s; ++k) {
    const double moved = mu[k] + shift[k];
    const IntervalSlopes slopes = interval_slopes(problem.lower[k] - moved, problem.upper[k] - moved);
    first[k] = slopes.first;
    second[k] = slopes.second;
    state.psi += 0.5 * mu[k] * mu[k] - x[k] * mu[k] + slopes.log_p;
  }
  const Matrix& m = problem.coupling;
  const Matrix scaled = second.asDiagonal() * m;
  state.gradient.resize(2 * n);
  state.gradient.head(n) = (-mu + m.transpose() * first).head(n);
  state.gradient.tail(n) = (mu - x + first).head(n);
  const Matrix xx = m.transpose() * scaled;
  state.hessian.resize(2 * n, 2 * n);
  state.hessian.topLeftCorner(n, n) = xx.topLeftCorner(n, n);
  state.hessian.bottomLeftCorner(n, n) = scaled.topLeftCorner(n, n) - Matrix::Identity(n, n);
  state.hessian.topRightCorner(n, n) = state.hessian.bottomLeftCorner(n, n).transpose();
  state.hessian.bottomRightCorner(n, n) = Matrix((Vector::Ones(n) + second.head(n)).asDiagonal());
  return state;
}

}  // namespace

void TruncatedNormal::validate() const {
  const auto s = mean.size();
  require(
      covariance.rows() == s && covariance.cols() == s && lower.size() == s && (upper.size() == s || upper.size() == 0),
      fmt::format("truncated normal: mean of {}, covariance {} x {}, bounds of {} and {} do not fit",
                  s,
                  covariance.rows(),
                  covariance.cols(),
                  lower.size(),
                  upper.size()));
  for (Eigen::Index i = 0; i < upper.size(); ++i) {
    require(lower[i] < upper[i],
            fmt::format("truncated normal: lower[{}] = {} is not below upper {}", i, lower[i], upper[i]));
  }
}

void MomentOptions::validate() const {
  require(quadrature_dimensions >= 1 && quadrature_dimensions <= kMaxQuadratureDimensions,
          fmt::format("moments.quadrature_dimensions = {}, must be between 1 and {}",
                      quadrature_dimensions,
                      kMaxQuadratureDimensions));
  require(points >= 1 && points <= (1 << 24), fmt::format("moments.points = {}, must be between 1 and 2^24", points));
}

TruncatedMoments truncated_moments(const TruncatedNormal& distribution, const MomentOptions& options) {
  distribution.validate();
  options.validate();
  if (dimension(distribution) == 0) return {.mean = Vector(0), .covariance = Matrix(0, 0)};
  if (dimension(distribution) <= options.quadrature_dimensions) return moments_by_quadrature(distribution);
  return moments_by_points(distribution, options.points);
}

std::vector<int> variable_order(const TruncatedNormal& distribution) {
  const int s = dimension(distribution);
  std::vector<int> order = natural_order(s);
  if (s < 2) return order;
  const Vector upper = upper_of(distribution);
  Matrix covariance = distribution.covariance;
  Vector mean = distribution.mean;
  for (int k = 0; k < s; ++k) {
    int best = k;
    double least = kInfinity;
    for (int i = k; i < s; ++i) {
      const int v = order[i];
      const double sd = std::sqrt(std::max(covariance(v, v), 1e-300));
      const double log_p = log_normal_interval((distribution.lower[v] - mean[v]) / sd, (upper[v] - mean[v]) / sd);
      if (log_p < least) {
        least = log_p;
        best = i;
      }
    }
    std::rotate(order.begin() + k, order.begin() + best, order.begin() + best + 1);
    // Condition the others on this variable's truncated mean.
    const int v = order[k];
    const double variance = std::max(covariance(v, v), 1e-300);
    const double sd = std::sqrt(variance);
    const double whitened =
        normal_interval_moments((distribution.lower[v] - mean[v]) / sd, (upper[v] - mean[v]) / sd).mean;
    const Vector gain = covariance.col(v) / variance;
    mean += gain * (whitened * sd);
    covariance -= gain * covariance.col(v).transpose();
  }
  return order;
}

WhitenedBox whiten(const TruncatedNormal& distribution, const std::vector<int>& order) {
  const int s = dimension(distribution);
  check(std::ssize(order) == s, "whiten: the order has another dimension");
  const Vector upper = upper_of(distribution);
  WhitenedBox box{Vector(s), Matrix(s, s), Vector(s), Vector(s)};
  for (int i = 0; i < s; ++i) {
    box.mean[i] = distribution.mean[order[i]];
    box.lower[i] = distribution.lower[order[i]];
    box.upper[i] = upper[order[i]];
    for (int j = 0; j < s; ++j) box.factor(i, j) = distribution.covariance(order[i], order[j]);
  }
  box.factor = lower_factor(box.factor);
  return box;
}

MinimaxTilt minimax_tilt(const WhitenedBox& box) {
  const auto s = box.mean.size();
  MinimaxTilt tilt{Vector::Zero(s), Vector::Zero(s), 0.0, false};
  if (s == 0) return tilt;
  const TiltProblem problem = tilt_problem(box);
  const auto n = s - 1;
  TiltState state = tilt_state(problem, tilt.point, tilt.shift);
  constexpr int kMaxIterations = 100;
  constexpr double kResidual = 1e-10;
  for (int i = 0; i < kMaxIterations; ++i) {
    const double residual = n == 0 ? 0.0 : state.gradient.norm();
    if (residual <= kResidual * (1.0 + tilt.shift.norm() + tilt.point.norm())) {
      tilt.log_bound = state.psi;
      tilt.converged = true;
      return tilt;
    }
    const Vector step = state.hessian.partialPivLu().solve(-state.gradient);
    bool improved = false;
    for (double length = 1.0; length > 1e-6; length *= 0.5) {
      Vector x = tilt.point;
      Vector mu = tilt.shift;
      x.head(n) += length * step.head(n);
      mu.head(n) += length * step.tail(n);
      TiltState next = tilt_state(problem, x, mu);
      if (next.gradient.allFinite() && std::isfinite(next.psi) && next.gradient.norm() < residual) {
        tilt.point = x;
        tilt.shift = mu;
        state = std::move(next);
        improved = true;
        break;
      }
    }
    if (!improved) break;
  }
  // Rounding may stop the descent just above the goal; such a point is as good for sampling.
  if (state.gradient.norm() < 1e-6 * (1.0 + tilt.shift.norm() + tilt.point.norm())) {
    tilt.log_bound = state.psi;
    tilt.converged = true;
    return tilt;
  }
  return {Vector::Zero(s), Vector::Zero(s), 0.0, false};
}

WeightedDraws separate_variables(const WhitenedBox& box, const Matrix& uniforms, const Vector& shift) {
  const auto s = box.mean.size();
  check(uniforms.cols() == s && shift.size() == s, "separate_variables: uniforms or shift of another dimension");
  const auto n = uniforms.rows();
  WeightedDraws draws{Matrix(n, s), Vector::Zero(n)};
  for (Eigen::Index k = 0; k < s; ++k) {
    const double scale = box.factor(k, k);
    const Vector moved = draws.zeta.leftCols(k) * box.factor.row(k).head(k).transpose();
    for (Eigen::Index i = 0; i < n; ++i) {
      const double low = (box.lower[k] - box.mean[k] - moved[i]) / scale - shift[k];
      const double high = (box.upper[k] - box.mean[k] - moved[i]) / scale - shift[k];
      const double zeta = shift[k] + truncated_normal_quantile(low, high, uniforms(i, k));
      draws.zeta(i, k) = zeta;
      draws.log_weights[i] += log_normal_interval(low, high) + shift[k] * (0.5 * shift[k] - zeta);
    }
  }
  return draws;
}

double effective_size(const Vector& log_weights) {
  if (log_weights.size() == 0) return 0.0;
  return 1.0 / normalised_weights(log_weights).squaredNorm();
}

double log_mean_exp(const Vector& log_weights) {
  const double most = log_weights.maxCoeff();
  if (!std::isfinite(most)) return most;
  return most + std::log((log_weights.array() - most).exp().mean());
}

Vector normalised_weights(const Vector& log_weights) {
  const double most = log_weights.maxCoeff();
  check(!std::isnan(most), "weights: NaN");
  // All weights vanished: no draw is better than another.
  if (!std::isfinite(most)) return Vector::Constant(log_weights.size(), 1.0 / static_cast<double>(log_weights.size()));
  Vector weights = (log_weights.array() - most).exp();
  weights /= weights.sum();
  return weights;
}

}  // namespace bapi
