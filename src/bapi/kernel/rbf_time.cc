#include <cmath>

#include "bapi/kernel/time_kernel.h"

namespace bapi {
namespace {

// k = exp(-(tau - tau')^2 / (2 lengthscale^2)).
class Rbf final : public TimeForm {
 public:
  std::string_view name() const override { return "rbf"; }

  std::vector<TimeParameter> parameters(const TimeKernel&) const override {
    return {
        {.name = "ell_t", .member = &TimeKernel::lengthscale, .median = 0.4, .log_sd = 0.5, .low = 0.1, .high = 2.0}};
  }

  // One derivative is the one in tau; the one in tau' is its negative.
  double covariance(const TimeKernel& kernel, Op op, double tau, Op op2, double tau2) const override {
    const double covariance = at(kernel, slopes(op, op2), tau - tau2);
    return op == Op::value && op2 == Op::slope ? -covariance : covariance;
  }

  double turning_distance(const TimeKernel& kernel) const override { return kernel.lengthscale; }

  std::optional<TimeArgument> argument() const override { return TimeArgument::difference; }

  double at(const TimeKernel& kernel, int derivatives, double difference) const override {
    const double precision = 1.0 / (kernel.lengthscale * kernel.lengthscale);
    const double scaled = difference * difference * precision;
    const double k = std::exp(-0.5 * scaled);
    if (derivatives == 0) return k;
    if (derivatives == 1) return -difference * precision * k;
    return precision * (1.0 - scaled) * k;
  }

  double log_derivative(const TimeKernel& kernel, int, double tau, double tau2) const override {
    const double scaled = (tau - tau2) / kernel.lengthscale;
    return scaled * scaled * std::exp(-0.5 * scaled * scaled);
  }

  void evaluate(const TimeKernel& kernel, const Vector& arguments, Evaluation& into) const override {
    const Vector squares = (arguments / kernel.lengthscale).cwiseAbs2();
    into.values = (-0.5 * squares.array()).exp();
    into.log_derivatives.resize(arguments.size(), 1);
    into.log_derivatives.col(0) = squares.cwiseProduct(into.values);
  }
};

}  // namespace

const TimeForm& rbf_form() {
  static const Rbf form;
  return form;
}

}  // namespace bapi
