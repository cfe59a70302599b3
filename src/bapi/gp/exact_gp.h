#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "bapi/gp/surrogate.h"
#include "bapi/gp/trend.h"
#include "bapi/kernel/product_kernel.h"
#include "bapi/kernel/rows.h"
#include "bapi/math/cholesky.h"
#include "bapi/math/types.h"

namespace bapi {

// Shape of the prior mean, times one coefficient m: m, or m * tau (whose slope is m).
enum class MeanShape { constant, proportional };

using Trends = std::vector<std::shared_ptr<const Trend>>;

struct PriorMean {
  MeanShape shape = MeanShape::constant;
  // The coefficient m; without one it is the generalised-least-squares value, which maximises the likelihood.
  std::optional<double> coefficient = std::nullopt;

  // Functions that are added with a weight w >= 0 each. The weights are those of largest posterior density
  // (trend_prior.h has the prior, of width trend_sd): a trend that explains too little has none.
  Trends trends = {};
  double trend_sd = 0.5;
};

struct GpParameters {
  ProductKernel kernel;
  double noise = 0.01;  // variance of an observation given f; > 0

  bool operator==(const GpParameters&) const = default;
};

// Gaussian process regression with fixed hyperparameters. With Z the data rows, R query rows:
//
//   K(Z,Z) + noise I = L L^T,   b = L^-1 (y - prior(Z)),   a = L^-T b
//   V = L^-1 K(Z,R),   mean = prior(R) + V^T b,   covariance = K(R,R) - V^T V
//
// Works for n = 0: then the posterior is the prior.
class ExactGp final : public Surrogate {
 public:
  // y has one finite value per row. Jitter is added if the covariance needs it; LogicError if that does not help.
  ExactGp(Rows rows, Vector y, GpParameters parameters, const PriorMean& prior = {});

  Eigen::Index size() const { return y_.size(); }
  const Rows& rows() const override { return rows_; }
  const Vector& y() const override { return y_; }
  double noise() const override { return parameters_.noise; }
  const GpParameters& parameters() const { return parameters_; }
  const Covariance& covariance() const { return covariance_; }

  // The coefficient of the prior mean, given or by generalised least squares. Fixed until the model is made anew.
  double mean_coefficient() const { return mean_coefficient_; }
  Vector prior_mean(const Rows& rows) const;
  Matrix prior_mean_x_gradients(const Rows& rows) const;  // d x q; 0 but for trends

  // Of the trends, in their order; fixed like the coefficient.
  const Vector& trend_weights() const { return trend_weights_; }

  const Cholesky& factor() const { return factor_; }    // L
  const Vector& residual() const { return residual_; }  // b, whitened
  Vector alpha() const;                                 // a, n^2: hold on to it
  double log_likelihood() const;                        // log p(y)

  // K(Z,R), n x q, and V = L^-1 K(Z,R) by one blocked solve for all rows.
  Matrix cross(const Rows& rows) const;
  Matrix whitened_cross(const Rows& rows) const;

  Moments predict(const Rows& rows) const override;
  JointMoments predict_joint(const Rows& rows) const override;

  // n^2 per row for the moments, n d per row for the gradients on top; rows may be at different x.
  MomentGradients predict_with_gradients(const Rows& rows) const override;

  // Conditions on more data with everything else (prior mean too) as it is: n^2 per row. LogicError if the covariance
  // stops being positive definite even with jitter.
  void append(const Rows& rows, const Vector& y);

  // Conditions on each row in turn at its expected value: what is running stands where the model expects it.
  ExactGp with_pending(const Rows& rows) const;

  // Takes the last `count` rows back: the model before they were appended, to the last bit.
  void pop(Eigen::Index count);

 private:
  Rows rows_;
  Vector y_;
  GpParameters parameters_;
  Covariance covariance_;
  MeanShape mean_shape_;
  double mean_coefficient_ = 0.0;
  Trends trends_;
  Vector trend_weights_;
  Cholesky factor_;
  Vector residual_;
};

// The prior mean's value for coefficient 1: 1 or tau, and its derivative for slope rows.
Vector mean_basis(const Rows& rows, MeanShape shape);

// The values of trends, one column each; |rows| x 0 without any.
Matrix trend_columns(const Rows& rows, const Trends& trends);

// What is left of whitened observations after the trends with the weights of largest posterior density. `basis` is the
// whitened basis of the mean, whose coefficient takes the part of the trends that it can explain, unless it is given.
struct Detrended {
  Vector weights;
  Vector rest;
};
Detrended without_trends(const Vector& whitened, const Matrix& trends, const Vector& basis, const PriorMean& prior);

// Posterior variances from K(R,R)'s diagonal and V. Rounding may leave a variance slightly below 0, which becomes 0;
// LogicError if it is lower than -1e-8 of its prior.
Vector remaining_variance(const Vector& prior_variance, const Matrix& whitened_cross);

}  // namespace bapi
