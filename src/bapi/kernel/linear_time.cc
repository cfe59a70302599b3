#include <limits>

#include "bapi/base/error.h"
#include "bapi/kernel/time_kernel.h"

namespace bapi {
namespace {

// k = bias + tau tau'.
class Linear final : public TimeForm {
 public:
  std::string_view name() const override { return "linear"; }

  std::vector<TimeParameter> parameters(const TimeKernel& kernel) const override {
    if (!(kernel.bias > 0.0)) return {};
    return {{.name = "bias", .member = &TimeKernel::bias, .median = 0.05, .log_sd = 1.0, .low = 1e-4, .high = 5.0}};
  }

  double covariance(const TimeKernel& kernel, Op op, double tau, Op op2, double tau2) const override {
    const double first = op == Op::value ? tau : 1.0;
    const double second = op2 == Op::value ? tau2 : 1.0;
    return first * second + (slopes(op, op2) == 0 ? kernel.bias : 0.0);
  }

  double turning_distance(const TimeKernel&) const override { return std::numeric_limits<double>::infinity(); }

  double log_derivative(const TimeKernel& kernel, int, double, double) const override { return kernel.bias; }

  void column(const TimeKernel& kernel,
              const Eigen::Ref<const Vector>& taus,
              double tau,
              Eigen::Ref<Vector> out) const override {
    out.array() = taus.array() * tau + kernel.bias;
  }

  void add_derivatives(const TimeKernel&,
                       const Eigen::Ref<const Vector>&,
                       double,
                       const Eigen::Ref<const Vector>& weights,
                       Eigen::Ref<Vector> sums) const override {
    if (sums.size() > 0) sums(0) += weights.sum();
  }

  Vector derivatives(const TimeKernel& kernel, const Vector& sums) const override { return kernel.bias * sums; }
};

// k = 1: the covariance does not depend on the epoch.
class Constant final : public TimeForm {
 public:
  std::string_view name() const override { return "constant"; }

  std::vector<TimeParameter> parameters(const TimeKernel&) const override { return {}; }

  double covariance(const TimeKernel&, Op op, double, Op op2, double) const override {
    return slopes(op, op2) == 0 ? 1.0 : 0.0;
  }

  double turning_distance(const TimeKernel&) const override { return 0.0; }

  double log_derivative(const TimeKernel&, int, double, double) const override {
    throw LogicError("time kernel: this kind has no parameters");
  }

  void column(const TimeKernel&, const Eigen::Ref<const Vector>&, double, Eigen::Ref<Vector> out) const override {
    out.setOnes();
  }

  void add_derivatives(const TimeKernel&,
                       const Eigen::Ref<const Vector>&,
                       double,
                       const Eigen::Ref<const Vector>&,
                       Eigen::Ref<Vector>) const override {}
};

}  // namespace

const TimeForm& linear_form() {
  static const Linear form;
  return form;
}

const TimeForm& constant_form() {
  static const Constant form;
  return form;
}

}  // namespace bapi
