#pragma once

#include "bapi/gp/exact_gp.h"
#include "bapi/gp/slope_constraint.h"
#include "bapi/kernel/rows.h"
#include "bapi/math/truncated_normal.h"
#include "bapi/math/types.h"

namespace bapi {

// Below this the data contradict the constraint: the noise is too small for them, or a curve was not cleaned by its
// running maximum.
inline constexpr double kContradictionLogProbability = -50.0;

// Virtual observations: rows (usually slopes) that must not fall below `lower` once noise of variance `noise` is added.
struct Constraint {
  Rows rows;
  Vector noise;
  Vector lower;  // 0 throughout for monotone curves

  static Constraint on_slopes(const SlopeConstraint& slopes, const Vector& x, CurveId group);
};

// The blocks of the Cholesky factor of the joint vector [Y; C; f], C the virtual observations, f the query rows.
struct JointFactor {
  Matrix whitened_constraint;  // V1 = L^-1 K(Z, Zv), n x s
  Matrix whitened_query;       // V2 = L^-1 K(Z, R), n x q
  Matrix coupling;             // V3 = L1^-1 (K(Zv, R) - V1^T V2), s x q
  Matrix remainder;            // Sigma = K(R, R) - V2^T V2 - V3^T V3, q x q
};

// The posterior of f given data and constraint: a mixture of Gaussians over the truncated virtual observations,
// described here by its first two moments. With nu, B1 = L1 L1^T the moments of C given the data alone and c, S those
// given the constraint too:
//
//   E f = mu + A (c - nu),   Cov f = Sigma + A S A^T,   A = V3^T L1^-1.
//
// Refers to the model, which must outlive it and stay as it is. Preparing costs n^2 s; then a mean costs n + s, a
// variance n^2.
class MonotoneGp final : public CurvePosterior {
 public:
  MonotoneGp(const ExactGp& gp, Constraint constraint, const MomentOptions& options = {});

  const ExactGp& gp() const { return gp_; }
  double log_probability() const override { return truncated_.log_probability; }  // log p(C | Y)
  double noise() const override { return gp_.noise(); }

  const Constraint& constraint() const { return constraint_; }
  const Vector& unconstrained_mean() const { return nu_; }                        // nu
  const Matrix& unconstrained_factor() const { return factor_; }                  // L1
  const Vector& constrained_mean() const { return truncated_.mean; }              // c
  const Matrix& constrained_covariance() const { return truncated_.covariance; }  // S
  const Vector& data_weights() const { return data_weights_; }  // w with E f(r) = prior + K(r,Z) w + K(r,Zv) g
  const Vector& constraint_weights() const { return constraint_weights_; }  // g

  Vector mean(const Rows& rows) const override;
  Moments predict(const Rows& rows) const override;
  JointMoments predict_joint(const Rows& rows) const;
  JointFactor joint_factor(const Rows& rows) const;

 private:
  Matrix coupling(const Rows& rows, const Matrix& whitened_query) const;

  const ExactGp& gp_;
  Constraint constraint_;
  Matrix whitened_;  // V1
  Vector nu_;
  Matrix factor_;
  TruncatedMoments truncated_;
  Vector data_weights_;
  Vector constraint_weights_;
};

// Lower factor of a symmetric matrix that may have lost definiteness to rounding: the first of a short list of jitters,
// relative to `scale` (the prior variances, which may differ by orders of magnitude), that works. LogicError if none
// does.
Matrix factor_of_small(const Matrix& covariance, const Vector& scale);

}  // namespace bapi
