#pragma once

#include "bapi/base/units.h"
#include "bapi/gp/exact_gp.h"

namespace bapi {

// Cumulative costs of training: one row per (configuration, epoch).
struct CostData {
  Matrix x;                   // n x d, in the unit cube
  std::vector<Epoch> epochs;  // n, at least 1
  Vector costs;               // n, cost of epochs 1..epoch together, positive
  std::vector<int> groups;    // n, which configuration; equal for rows of one curve

  void validate() const;
};

// The paper's cost model: a Gaussian process with kernel amplitude * kx_rbf(x, x') (bias + tau tau'), so that cost
// grows in proportion to the epochs at a rate that depends on x. Costs are divided by a scale and not centred.
class LinearCost {
 public:
  // zero: as in the paper; far from the data the cost tends to 0. proportional: the mean is rate * tau with the
  // generalised-least-squares rate.
  enum class Mean { zero, proportional };

  LinearCost(const CostData& data, Epoch max_epoch, GpParameters parameters, double scale, Mean mean);

  const ExactGp& gp() const { return gp_; }  // of cost / scale
  double scale() const { return scale_; }

  // Cost of epochs 1..epoch at each x (m x d); may be negative.
  Vector mean(const Matrix& x, const std::vector<Epoch>& epochs) const;
  Vector variance(const Matrix& x, const std::vector<Epoch>& epochs) const;

  // mean(until) - mean(done), the latter 0 for done = 0.
  Vector increment(const Matrix& x, const std::vector<Epoch>& done, const std::vector<Epoch>& until) const;

 private:
  Epoch max_epoch_;
  double scale_;
  ExactGp gp_;
};

// Root mean square of cost / tau: brings the rates to order 1.
double cost_scale(const CostData& data, Epoch max_epoch);

// A tenth of the lowest cost per epoch seen; no prediction goes below this times its epochs.
double lowest_credible_rate(const CostData& data);

}  // namespace bapi
