#pragma once

#include <optional>
#include <vector>

#include "bapi/cost/linear_cost.h"
#include "bapi/gp/exact_gp.h"

namespace bapi {

// Cost as start-up + rate(x) * epochs, with a Gaussian process over x of log(rate): positive everywhere, relative
// errors, one row per configuration.
class LogRateCost {
 public:
  struct Rates {
    Matrix x;     // one row per configuration
    Vector logs;  // log(cost per epoch) at its last epoch, start-up taken off
  };

  LogRateCost(const Rates& rates, GpParameters parameters, Cost start_up = 0.0);

  const ExactGp& gp() const { return gp_; }
  Cost start_up() const { return start_up_; }

  // Of log(rate).
  Moments log_rate(const Matrix& x) const;

  // Of the configuration at x (d), if it is among the data.
  std::optional<double> log_rate_seen(const Vector& x) const;

  // Median and mean of the cost of epochs done+1..until; the start-up belongs to the first epoch.
  Vector median_increment(const Matrix& x, const std::vector<Epoch>& done, const std::vector<Epoch>& until) const;
  Vector mean_increment(const Matrix& x, const std::vector<Epoch>& done, const std::vector<Epoch>& until) const;

 private:
  Vector increment(const Vector& rates, const std::vector<Epoch>& done, const std::vector<Epoch>& until) const;

  Cost start_up_;
  ExactGp gp_;
};

// How much the rate of a configuration differs from one part of its training to the next: root mean square of
// log(rate of the second half of the epochs / rate of the first half), start-up taken off, with a few cases of a prior.
// 0 if costs are the same everywhere: then nothing is uncertain.
double rate_drift(const CostData& data, Cost start_up);

// The last epoch of each configuration. A start-up that leaves nothing of a cost is taken off only in part.
LogRateCost::Rates last_rates(const CostData& data, Cost start_up);

// The cost that every configuration pays before its first epoch, if the data show one, else 0. Each configuration with
// costs at two or more epochs tells its own: the intercept of the line through its first and last row. Their median
// counts if there are at least three, if it is at least four standard errors (from their median absolute deviation)
// above 0, and if it is at least a twentieth of the median cost of an epoch.
Cost start_up_cost(const CostData& data);

}  // namespace bapi
