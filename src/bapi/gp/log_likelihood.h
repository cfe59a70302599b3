#pragma once

#include <memory>

#include "bapi/gp/exact_gp.h"
#include "bapi/kernel/rows.h"
#include "bapi/math/types.h"

namespace bapi {

// The positive hyperparameters as a vector of logs, in this order: amplitude, lengthscales, the parameters of the time
// kernel, the own amplitude if it is on, noise.
Vector log_parameters(const GpParameters& parameters);
GpParameters with_log_parameters(const GpParameters& structure, const Vector& logs);

// log p(y) and its gradient in the logs of the hyperparameters, for one data set and many hyperparameters.
//
// With W = a a^T - (K + noise I)^-1 the derivative in each of them is sum_ij W_ij dK_ij / 2, and the matrices dK share
// their factors: one sweep over the lower half of W serves all. A generalised-least-squares mean is solved anew each
// time; the gradient stays right because the likelihood is at its maximum in the mean. So are the weights of trends,
// whose log prior is added.
class LogLikelihood {
 public:
  // All rows are values. `structure` says which kernel and whether the own term is on; its numbers do not matter.
  LogLikelihood(const Rows& rows, const Vector& y, const GpParameters& structure, const PriorMean& prior = {});
  ~LogLikelihood();
  LogLikelihood(LogLikelihood&&) noexcept;
  LogLikelihood& operator=(LogLikelihood&&) noexcept;

  Eigen::Index parameter_count() const;

  // About n^3 flops. Minus infinity, and no gradient, if the covariance is not positive definite.
  double operator()(const Vector& log_parameters, Vector& gradient);

 private:
  class Workspace;
  std::unique_ptr<Workspace> workspace_;
};

}  // namespace bapi
