#include "bapi/acquisition/penalised_future.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "bapi/acquisition/improvement.h"
#include "bapi/acquisition/search.h"
#include "bapi/base/error.h"
#include "bapi/math/normal.h"
#include "bapi/math/quasi_random.h"

namespace bapi {
namespace {

constexpr int kPoints = 100;  // among which a future point is searched
constexpr int kAscents = 2;   // from the best of them
constexpr double kSmallestSd = 1e-6;

const SearchOptions kSlopeSearch{
    .raw_points = 512, .starts = 20, .ascent = {.max_iterations = 50, .relative_tolerance = 1e-6}};

Rows rows_at(const Matrix& points) { return Rows::at_configurations(points.transpose()); }

// Indices of the `count` largest scores, best first.
std::vector<Eigen::Index> largest(Vector scores, int count) {
  std::vector<Eigen::Index> found;
  for (int k = 0; k < count; ++k) {
    Eigen::Index next = 0;
    scores.maxCoeff(&next);
    found.push_back(next);
    scores[next] = -std::numeric_limits<double>::infinity();
  }
  return found;
}

}  // namespace

double log_local_penalty(double lipschitz, double distance, double best, double mean, double sd) {
  return log_normal_cdf((lipschitz * distance - best + mean) / std::max(sd, kSmallestSd));
}

// With u = (x - x_i) / l^2 and e = exp(-sqrt5 r): the mean's gradient is -(5/3) sum_i a_i e (1 + sqrt5 r) u, and its
// derivative along g is -(5/3) sum_i a_i e ((1 + sqrt5 r) g / l^2 - 5 u (u . g)).
void slope_norms(const ExactGp& gp, const Matrix& points, Vector& norms, Matrix& gradients) {
  const ProductKernel& kernel = gp.parameters().kernel;
  check(kernel.space.kind == SpaceKind::matern52 && kernel.time.kind == TimeKind::constant,
        "slope norms: the kernel is not a Matern 5/2 of configurations");
  const Vector inverse_square = kernel.space.lengthscales.cwiseAbs2().cwiseInverse();
  const Vector alpha = gp.alpha();
  const double scale = 5.0 / 3.0 * kernel.amplitude;
  norms.resize(points.cols());
  gradients.resize(points.rows(), points.cols());
  for (Eigen::Index i = 0; i < points.cols(); ++i) {
    const Matrix difference = (-gp.rows().x).rowwise() + points.col(i).transpose();  // n x d
    const Matrix u = difference * inverse_square.asDiagonal();
    const Vector root = (5.0 * u.cwiseProduct(difference).rowwise().sum().array()).sqrt();  // sqrt5 r
    const Vector decay = scale * alpha.array() * (-root.array()).exp();
    const Vector linear = decay.array() * (1.0 + root.array());
    const Vector slope = -(u.transpose() * linear);
    norms[i] = slope.norm();
    if (!(norms[i] > 0.0)) {
      gradients.col(i).setZero();
      continue;
    }
    const Vector along = u * slope;
    gradients.col(i) =
        (5.0 * (u.transpose() * decay.cwiseProduct(along)) - linear.sum() * inverse_square.cwiseProduct(slope)) /
        norms[i];
  }
}

double steepest_slope(const ExactGp& gp, Rng& rng) {
  const auto d = static_cast<int>(gp.rows().dim());
  const auto score = [&](const Matrix& points) -> Vector {
    Vector norms;
    Matrix gradients;
    slope_norms(gp, points, norms, gradients);
    return norms;
  };
  const SearchObjective objective{
      .screen = score, .score = score, .ascend = [&](const Matrix& points, Vector& values, Matrix& gradients) {
        slope_norms(gp, points, values, gradients);
      }};
  const std::vector<ScoredPoint> found = search_cube(objective, d, Matrix(d, 0), {}, kSlopeSearch, rng);
  return found.empty() ? 0.0 : found.front().score;
}

PenalisedFuture::PenalisedFuture(const ExactGp& gp, double best, Rng& rng)
    : gp_(gp), best_(best), lipschitz_(steepest_slope(gp, rng)) {
  points_ = scrambled_sobol_points(kPoints, static_cast<int>(gp.rows().dim()), rng).transpose();
  moments_ = gp.predict(rows_at(points_));
  log_improvement_.resize(kPoints);
  for (Eigen::Index i = 0; i < kPoints; ++i) {
    log_improvement_[i] = log_expected_improvement(moments_.mean[i], std::sqrt(moments_.variance[i]), best);
  }
}

PenalisedFuture::Centre PenalisedFuture::centre(const Vector& x) const {
  const Moments at = gp_.predict(rows_at(x));
  return {x, at.mean[0], std::sqrt(at.variance[0])};
}

Vector PenalisedFuture::penalties(const Centre& around) const {
  Vector logs(points_.cols());
  for (Eigen::Index i = 0; i < logs.size(); ++i) {
    logs[i] = log_local_penalty(lipschitz_, (points_.col(i) - around.x).norm(), best_, around.mean, around.sd);
  }
  return logs;
}

Matrix PenalisedFuture::rough(const Vector& first, int count) const {
  Matrix future(first.size(), count);
  Vector scores = log_improvement_ + penalties(centre(first));
  for (int k = 0; k < count; ++k) {
    Eigen::Index next = 0;
    scores.maxCoeff(&next);
    future.col(k) = points_.col(next);
    if (k + 1 < count) {
      scores += penalties({points_.col(next), moments_.mean[next], std::sqrt(moments_.variance[next])});
    }
  }
  return future;
}

MaximizeSummary PenalisedFuture::ascended(const Vector& start, const std::vector<Centre>& before) const {
  const Objective objective = [&](const Vector& x, Vector& gradient) {
    const ImprovementGradients at = log_expected_improvement(gp_, rows_at(x), best_);
    double value = at.log_values[0];
    gradient = at.gradients.col(0);
    for (const Centre& c : before) {
      const double distance = (x - c.x).norm();
      const double sd = std::max(c.sd, kSmallestSd);
      const double z = (lipschitz_ * distance - best_ + c.mean) / sd;
      value += log_normal_cdf(z);
      if (distance > 0.0) gradient += normal_hazard(-z) * lipschitz_ / (sd * distance) * (x - c.x);
    }
    return value;
  };
  const Box cube{Vector::Zero(start.size()), Vector::Ones(start.size())};
  return maximize(objective, cube, start, {.max_iterations = 30, .relative_tolerance = 1e-4});
}

Matrix PenalisedFuture::refined(const Vector& first, int count) const {
  Matrix future(first.size(), count);
  std::vector<Centre> before = {centre(first)};
  Vector scores = log_improvement_;
  for (int k = 0; k < count; ++k) {
    scores += penalties(before.back());
    const std::vector<Eigen::Index> starts = largest(scores, kAscents);
    MaximizeSummary best = ascended(points_.col(starts.front()), before);
    for (std::size_t i = 1; i < starts.size(); ++i) {
      MaximizeSummary other = ascended(points_.col(starts[i]), before);
      if (other.value > best.value) best = std::move(other);
    }
    future.col(k) = best.x;
    before.push_back(centre(best.x));
  }
  return future;
}

}  // namespace bapi
