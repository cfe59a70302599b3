#pragma once

#include "bapi/base/rng.h"
#include "bapi/gp/exact_gp.h"
#include "bapi/math/maximize.h"
#include "bapi/math/types.h"

namespace bapi {

// Prior and range of one positive hyperparameter. Densities are over the parameter's log (log-normal) or over the
// parameter without the Jacobian of the log (gamma), and up to a constant.
struct Prior {
  enum class Shape { flat, log_normal, gamma };

  Shape shape = Shape::flat;
  double a = 0.0;  // log-normal: median; gamma: shape
  double b = 0.0;  // log-normal: standard deviation of the log; gamma: rate
  double low = 1e-6;
  double high = 1e6;

  static Prior log_normal(double median, double log_sd, double low, double high);
  static Prior gamma(double shape, double rate, double low, double high);
  static Prior flat(double low, double high);

  double log_density(double log_value) const;
  double derivative(double log_value) const;  // in log_value
  double log_mode() const;                    // within the range; the range's geometric middle if flat
  double draw_log(Rng& rng) const;            // within the range

  void validate(const char* name) const;
};

// Those of the time kernel's parameters belong to the kernel, see TimeParameter.
struct HyperPriors {
  Prior amplitude;
  Prior lengthscale;
  Prior own_amplitude;
  Prior noise;

  // For learning curves, standardised values in the unit cube.
  static HyperPriors for_curves();

  // For values at the last epoch alone, as model-based rivals use them: gamma priors on lengthscales and amplitude.
  static HyperPriors for_configurations();

  // For logs of the cost per epoch, divided by nothing: their spread is of order 1 by nature.
  static HyperPriors for_log_rates();

  void validate() const;
};

// The prior over a parameter vector in the order of log_parameters().
class JointPrior {
 public:
  JointPrior(const HyperPriors& priors, const GpParameters& structure);

  Eigen::Index size() const { return static_cast<Eigen::Index>(each_.size()); }
  Box box() const;
  double log_density(const Vector& logs) const;
  Vector gradient(const Vector& logs) const;
  Vector mode() const;
  Vector draw(Rng& rng) const;

 private:
  std::vector<Prior> each_;
};

}  // namespace bapi
