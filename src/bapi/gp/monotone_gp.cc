#include "bapi/gp/monotone_gp.h"

#include <Eigen/Cholesky>
#include <utility>

#include "bapi/base/error.h"

namespace bapi {

Matrix factor_of_small(const Matrix& covariance, const Vector& scale) {
  for (const double jitter : {0.0, 1e-10, 1e-8, 1e-6, 1e-4}) {
    Matrix moved = covariance;
    moved.diagonal() += jitter * scale;
    const Eigen::LLT<Matrix> llt(moved);
    if (llt.info() == Eigen::Success && llt.matrixLLT().diagonal().allFinite()) return llt.matrixL();
  }
  check(false, "joint factor: the covariance of the virtual rows is not positive definite");
  return {};
}

Constraint Constraint::on_slopes(const SlopeConstraint& slopes, const Vector& x, CurveId group) {
  return {slopes.rows(x, group), slopes.noise, Vector::Zero(slopes.size())};
}

MonotoneGp::MonotoneGp(const ExactGp& gp, Constraint constraint, const MomentOptions& options)
    : gp_(gp), constraint_(std::move(constraint)) {
  const auto s = constraint_.rows.size();
  check(constraint_.noise.size() == s && constraint_.lower.size() == s, "monotone gp: constraint of unequal parts");
  Matrix covariance = gp.covariance().gram(constraint_.rows);
  const Vector prior = covariance.diagonal();
  covariance.diagonal() += constraint_.noise;
  whitened_ = gp.whitened_cross(constraint_.rows);
  covariance.noalias() -= whitened_.transpose() * whitened_;
  nu_ = gp.prior_mean(constraint_.rows) + whitened_.transpose() * gp.residual();
  factor_ = factor_of_small(covariance, prior);
  covariance.noalias() = factor_ * factor_.transpose();
  truncated_ =
      truncated_moments({.mean = nu_, .covariance = covariance, .lower = constraint_.lower, .upper = {}}, options);

  constraint_weights_ = truncated_.mean - nu_;
  factor_.triangularView<Eigen::Lower>().solveInPlace(constraint_weights_);
  factor_.triangularView<Eigen::Lower>().transpose().solveInPlace(constraint_weights_);
  // a - L^-T V1 g in one solve.
  data_weights_ = gp.factor().solve_lower_transposed(Vector(gp.residual() - whitened_ * constraint_weights_));
}

Vector MonotoneGp::mean(const Rows& rows) const {
  Vector result = gp_.prior_mean(rows);
  if (gp_.size() > 0) result += gp_.covariance().contracted(gp_.rows(), rows, data_weights_);
  if (constraint_.rows.size() > 0) {
    result += gp_.covariance().contracted(constraint_.rows, rows, constraint_weights_);
  }
  return result;
}

Matrix MonotoneGp::coupling(const Rows& rows, const Matrix& whitened_query) const {
  Matrix cross = gp_.covariance().cross(constraint_.rows, rows);
  cross.noalias() -= whitened_.transpose() * whitened_query;
  factor_.triangularView<Eigen::Lower>().solveInPlace(cross);
  return cross;
}

JointFactor MonotoneGp::joint_factor(const Rows& rows) const {
  JointFactor joint{
      .whitened_constraint = whitened_, .whitened_query = gp_.whitened_cross(rows), .coupling = {}, .remainder = {}};
  joint.coupling = coupling(rows, joint.whitened_query);
  joint.remainder = gp_.covariance().gram(rows);
  joint.remainder.noalias() -= joint.whitened_query.transpose() * joint.whitened_query;
  joint.remainder.noalias() -= joint.coupling.transpose() * joint.coupling;
  return joint;
}

Moments MonotoneGp::predict(const Rows& rows) const {
  const Matrix whitened_query = gp_.whitened_cross(rows);
  Moments moments;
  moments.mean = gp_.prior_mean(rows) + whitened_query.transpose() * gp_.residual();
  const Matrix v3 = coupling(rows, whitened_query);
  Matrix both(whitened_query.rows() + v3.rows(), rows.size());
  both << whitened_query, v3;
  moments.variance = remaining_variance(gp_.covariance().variances(rows), both);
  const Matrix a = factor_.triangularView<Eigen::Lower>().transpose().solve(v3);  // A^T
  moments.mean.noalias() += a.transpose() * (truncated_.mean - nu_);
  moments.variance += a.cwiseProduct(truncated_.covariance * a).colwise().sum().transpose();
  return moments;
}

JointMoments MonotoneGp::predict_joint(const Rows& rows) const {
  JointFactor joint = joint_factor(rows);
  const Matrix a = factor_.triangularView<Eigen::Lower>().transpose().solve(joint.coupling);
  JointMoments moments;
  moments.mean = gp_.prior_mean(rows) + joint.whitened_query.transpose() * gp_.residual() +
                 a.transpose() * (truncated_.mean - nu_);
  moments.covariance = std::move(joint.remainder);
  moments.covariance.noalias() += a.transpose() * truncated_.covariance * a;
  return moments;
}

}  // namespace bapi
