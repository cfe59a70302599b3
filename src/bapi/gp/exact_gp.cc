#include "bapi/gp/exact_gp.h"

#include <cmath>
#include <utility>

#include "bapi/base/error.h"
#include "bapi/math/constants.h"

namespace bapi {
namespace {

// Share of the prior variance by which rounding may push a posterior variance below 0.
constexpr double kVarianceRounding = 1e-8;

Cholesky factor_of_data(const Covariance& covariance, const Rows& rows, double noise) {
  Matrix k = covariance.gram(rows);
  k.diagonal().array() += noise;
  std::optional<Cholesky> factor = Cholesky::factor(k);
  check(factor.has_value(), "exact gp: the covariance of the data is not positive definite");
  return *std::move(factor);
}

}  // namespace

Vector mean_basis(const Rows& rows, MeanShape shape) {
  Vector basis(rows.size());
  for (Eigen::Index i = 0; i < basis.size(); ++i) {
    const bool slope = rows.op[i] == Op::slope;
    basis(i) = shape == MeanShape::constant ? (slope ? 0.0 : 1.0) : (slope ? 1.0 : rows.tau(i));
  }
  return basis;
}

Matrix trend_columns(const Rows& rows, const Trends& trends) {
  Matrix columns(rows.size(), std::ssize(trends));
  for (std::size_t k = 0; k < trends.size(); ++k) columns.col(static_cast<Eigen::Index>(k)) = trends[k]->values(rows);
  return columns;
}

// With a free coefficient m of the basis u the least |b - u m - T w|^2 over m is |P b - P T w|^2, P the projection
// orthogonal to u.
Detrended without_trends(const Vector& whitened, const Matrix& trends, const Vector& basis, const PriorMean& prior) {
  Vector target = whitened;
  Matrix columns = trends;
  if (prior.coefficient) {
    target -= *prior.coefficient * basis;
  } else if (const double norm = basis.squaredNorm(); norm > 0.0) {
    target -= (basis.dot(target) / norm) * basis;
    columns -= basis * (basis.transpose() * columns / norm).eval();
  }
  Vector weights = trend_weights(columns, target, prior.trend_sd);
  Vector rest = whitened - trends * weights;
  return {.weights = std::move(weights), .rest = std::move(rest)};
}

Vector remaining_variance(const Vector& prior_variance, const Matrix& whitened_cross) {
  Vector variance = prior_variance - whitened_cross.colwise().squaredNorm().transpose();
  for (Eigen::Index i = 0; i < variance.size(); ++i) {
    check(variance(i) > -kVarianceRounding * prior_variance(i) || prior_variance(i) == 0.0,
          "exact gp: a posterior variance is negative");
    variance(i) = std::max(variance(i), 0.0);
  }
  return variance;
}

ExactGp::ExactGp(Rows rows, Vector y, GpParameters parameters, const PriorMean& prior)
    : rows_(std::move(rows)),
      y_(std::move(y)),
      parameters_(std::move(parameters)),
      covariance_(parameters_.kernel, rows_.max_epoch),
      mean_shape_(prior.shape),
      trends_(prior.trends) {
  rows_.check_shape();
  check(y_.size() == rows_.size(), "exact gp: y and rows differ in length");
  check(y_.allFinite() && rows_.x.allFinite() && rows_.tau.allFinite(), "exact gp: the data are not finite");
  factor_ = factor_of_data(covariance_, rows_, parameters_.noise);
  const Vector basis = factor_.solve_lower(mean_basis(rows_, mean_shape_));
  Vector whitened = factor_.solve_lower(y_);
  if (!trends_.empty()) {
    Detrended part = without_trends(whitened, factor_.solve_lower(trend_columns(rows_, trends_)), basis, prior);
    trend_weights_ = std::move(part.weights);
    whitened = std::move(part.rest);
  }
  const double norm = basis.squaredNorm();
  mean_coefficient_ = prior.coefficient.value_or(norm > 0.0 ? basis.dot(whitened) / norm : 0.0);
  residual_ = whitened - mean_coefficient_ * basis;
}

Vector ExactGp::prior_mean(const Rows& rows) const {
  Vector mean = mean_coefficient_ * mean_basis(rows, mean_shape_);
  for (std::size_t k = 0; k < trends_.size(); ++k) {
    const double weight = trend_weights_[static_cast<Eigen::Index>(k)];
    if (weight > 0.0) mean += weight * trends_[k]->values(rows);
  }
  return mean;
}

Matrix ExactGp::prior_mean_x_gradients(const Rows& rows) const {
  Matrix gradients = Matrix::Zero(rows.dim(), rows.size());
  for (std::size_t k = 0; k < trends_.size(); ++k) {
    const double weight = trend_weights_[static_cast<Eigen::Index>(k)];
    if (weight > 0.0) gradients += weight * trends_[k]->x_gradients(rows);
  }
  return gradients;
}

Vector ExactGp::alpha() const { return factor_.solve_lower_transposed(residual_); }

double ExactGp::log_likelihood() const {
  return -0.5 * (residual_.squaredNorm() + factor_.log_det() + static_cast<double>(size()) * kLogTwoPi);
}

Matrix ExactGp::cross(const Rows& rows) const {
  return size() == 0 ? Matrix(0, rows.size()) : covariance_.cross(rows_, rows);
}

Matrix ExactGp::whitened_cross(const Rows& rows) const { return factor_.solve_lower(cross(rows)); }

Moments ExactGp::predict(const Rows& rows) const {
  const Matrix v = whitened_cross(rows);
  return {.mean = prior_mean(rows) + v.transpose() * residual_,
          .variance = remaining_variance(covariance_.variances(rows), v)};
}

JointMoments ExactGp::predict_joint(const Rows& rows) const {
  const Matrix v = whitened_cross(rows);
  JointMoments joint{.mean = prior_mean(rows) + v.transpose() * residual_, .covariance = covariance_.gram(rows)};
  joint.covariance.noalias() -= v.transpose() * v;
  return joint;
}

MomentGradients ExactGp::predict_with_gradients(const Rows& rows) const {
  MomentGradients result;
  Matrix v = whitened_cross(rows);
  result.moments.mean = prior_mean(rows) + v.transpose() * residual_;
  result.moments.variance = remaining_variance(covariance_.variances(rows), v);
  if (size() == 0) {
    result.mean = prior_mean_x_gradients(rows);
    result.variance = Matrix::Zero(rows.dim(), rows.size());
    return result;
  }
  result.mean = covariance_.contracted_x_gradient(rows_, rows, alpha());
  if (!trends_.empty()) result.mean += prior_mean_x_gradients(rows);
  result.variance = -2.0 * covariance_.contracted_x_gradient(rows_, rows, factor_.solve_lower_transposed(std::move(v)));
  return result;
}

void ExactGp::append(const Rows& rows, const Vector& y) {
  check(y.size() == rows.size(), "exact gp: appended y and rows differ in length");
  check(y.allFinite(), "exact gp: appended data are not finite");
  const Eigen::Index n = size();
  const Matrix v = whitened_cross(rows);
  Matrix corner = covariance_.gram(rows);
  corner.diagonal().array() += parameters_.noise;
  check(factor_.append_whitened(v, corner), "exact gp: the covariance of the appended data is not positive definite");
  const Vector remainder = y - prior_mean(rows) - v.transpose() * residual_;
  residual_.conservativeResize(n + y.size());
  residual_.tail(y.size()) =
      factor_.lower().bottomRightCorner(y.size(), y.size()).triangularView<Eigen::Lower>().solve(remainder);
  rows_.append(rows);
  y_.conservativeResize(n + y.size());
  y_.tail(y.size()) = y;
}

// An observation that is what was expected changes no mean, so all rows are conditioned on at once.
ExactGp ExactGp::with_pending(const Rows& rows) const {
  ExactGp model = *this;
  if (rows.size() > 0) model.append(rows, predict(rows).mean);
  return model;
}

void ExactGp::pop(Eigen::Index count) {
  check(count >= 0 && count <= size(), "exact gp: cannot take back more rows than there are");
  const Eigen::Index n = size() - count;
  factor_.pop(count);
  rows_.truncate(n);
  y_.conservativeResize(n);
  residual_.conservativeResize(n);
}

}  // namespace bapi
