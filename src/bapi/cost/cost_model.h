#pragma once

#include <string>
#include <variant>

#include "bapi/base/rng.h"
#include "bapi/base/units.h"
#include "bapi/cost/linear_cost.h"
#include "bapi/cost/log_rate_cost.h"
#include "bapi/gp/fit.h"
#include "bapi/math/error_law.h"

namespace bapi {

enum class CostForm {
  log_rate,     // recommended
  linear_mean,  // the paper's kernel around a line through 0
  literal       // the paper's: zero mean, tends to the floor far from data
};

enum class CostEstimate { median, mean };

struct CostOptions {
  CostForm form = CostForm::log_rate;

  // Of log-rate predictions: the median plans better, the mean is unbiased for sums.
  CostEstimate estimate = CostEstimate::median;

  // Cost per epoch while nothing has been measured.
  Cost rate_without_data = 1.0;

  // Rows per configuration that enter a linear form (the last ones, evenly spaced): they are collinear, more say
  // nothing new.
  int rows_per_configuration = 2;

  // Restarts and iterations of the hyperparameter fit; its priors and mean are set by the form.
  FitOptions fit = {};

  void validate() const;
};

// How the errors of the logarithms of costs are distributed in units of log_sd(), after `done` epochs: learned from
// decisions on recorded trainings by bench/forecasts/fit_tails.py.
ErrorLaw log_cost_errors(Epoch done);

// What training costs: until an epoch, and between two epochs for a configuration that is resumed. Always positive.
class CostModel {
 public:
  // Hyperparameters are fitted. Any amount of data will do, none too; max_epoch is the last epoch of the study.
  static CostModel fit(const CostData& data, int dim, Epoch max_epoch, const CostOptions& options, Rng& rng);

  // Cost of epochs 1..until for each row of x (m x d).
  Vector until(const Matrix& x, const std::vector<Epoch>& until) const;

  // Cost of epochs done+1..until, never below the lowest credible rate times their number; 0 if there are none.
  Vector between(const Matrix& x, const std::vector<Epoch>& done, const std::vector<Epoch>& until) const;

  Cost between(const Vector& x, Epoch done, Epoch until) const;

  // How far off a prediction of further epochs at x may be, after `done` epochs: standard deviation of log(cost) by the
  // model, see log_cost_errors. 0 where costs have always been the same, and for the linear forms, which make no such
  // statement.
  double log_sd(const Vector& x, Epoch done) const;

  Cost start_up() const;  // 0 unless the data show one

 private:
  using Form = std::variant<LinearCost, LogRateCost>;
  CostModel(Form form, CostEstimate estimate, double floor_rate, double drift = 0.0);

  Form form_;
  CostEstimate estimate_;
  double floor_rate_;
  double drift_;  // see rate_drift()
};

}  // namespace bapi
