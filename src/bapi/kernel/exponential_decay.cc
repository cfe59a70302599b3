#include <cmath>
#include <limits>

#include "bapi/kernel/time_kernel.h"

namespace bapi {
namespace {

// k = w + u^-alpha with u = 1 + (tau + tau') / beta.
class ExponentialDecay final : public TimeForm {
 public:
  std::string_view name() const override { return "ed"; }
  std::string_view long_name() const override { return "exponential decay"; }

  // alpha and beta are hardly identified together, so their priors matter.
  std::vector<TimeParameter> parameters(const TimeKernel&) const override {
    return {{.name = "w", .member = &TimeKernel::w, .median = 0.5, .log_sd = 1.0, .low = 0.01, .high = 20.0},
            {.name = "alpha", .member = &TimeKernel::alpha, .median = 1.2, .log_sd = 0.5, .low = 0.2, .high = 6.0},
            {.name = "beta", .member = &TimeKernel::beta, .median = 0.3, .log_sd = 0.8, .low = 0.02, .high = 3.0}};
  }

  double covariance(const TimeKernel& kernel, Op op, double tau, Op op2, double tau2) const override {
    return at(kernel, slopes(op, op2), tau + tau2);
  }

  // The mean has hardly any room to bend between the ends.
  double turning_distance(const TimeKernel&) const override { return std::numeric_limits<double>::infinity(); }

  std::optional<TimeArgument> argument() const override { return TimeArgument::sum; }

  double at(const TimeKernel& kernel, int derivatives, double sum) const override {
    const double u = 1.0 + sum / kernel.beta;
    const double alpha = kernel.alpha;
    const double beta = kernel.beta;
    if (derivatives == 0) return kernel.w + std::pow(u, -alpha);
    if (derivatives == 1) return -(alpha / beta) * std::pow(u, -alpha - 1.0);
    return alpha * (alpha + 1.0) / (beta * beta) * std::pow(u, -alpha - 2.0);
  }

  double log_derivative(const TimeKernel& kernel, int p, double tau, double tau2) const override {
    const double scaled_sum = (tau + tau2) / kernel.beta;
    const double u = 1.0 + scaled_sum;
    if (p == 0) return kernel.w;
    if (p == 1) return -kernel.alpha * std::log(u) * std::pow(u, -kernel.alpha);
    return kernel.alpha * scaled_sum * std::pow(u, -kernel.alpha - 1.0);
  }

  void evaluate(const TimeKernel& kernel, const Vector& arguments, Evaluation& into) const override {
    const Vector scaled = arguments / kernel.beta;
    const Vector log_u = (1.0 + scaled.array()).log();
    const Vector decay = (-kernel.alpha * log_u.array()).exp();
    into.values = kernel.w + decay.array();
    into.log_derivatives.resize(arguments.size(), 3);
    into.log_derivatives.col(0).setConstant(kernel.w);
    into.log_derivatives.col(1) = -kernel.alpha * log_u.cwiseProduct(decay);
    into.log_derivatives.col(2) = kernel.alpha * scaled.array() / (1.0 + scaled.array()) * decay.array();
  }
};

}  // namespace

const TimeForm& exponential_decay_form() {
  static const ExponentialDecay form;
  return form;
}

}  // namespace bapi
