#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "bapi/kernel/rows.h"
#include "bapi/math/types.h"

namespace bapi {

struct TimeKernel;

// A positive parameter of a time kernel, with its log-normal prior and its range.
struct TimeParameter {
  const char* name = "";
  double TimeKernel::*member = nullptr;
  double median = 1.0;
  double log_sd = 1.0;
  double low = 1e-6;
  double high = 1e6;
};

// What a covariance over two times depends on alone, if anything: it can then be tabulated over whole epochs.
enum class TimeArgument { sum, difference };

// The formulas of one kind of time kernel: values, derivatives in time and in the logs of the parameters. A new kind is
// a file that implements this, and its lines in time_kernel.h.
class TimeForm {
 public:
  virtual ~TimeForm() = default;

  // For options and messages, and what it is short for, if anything.
  virtual std::string_view name() const = 0;
  virtual std::string_view long_name() const { return ""; }

  // The parameters that `kernel` has, in a fixed order.
  virtual std::vector<TimeParameter> parameters(const TimeKernel& kernel) const = 0;

  // Covariance of two functionals of f at tau and tau2.
  virtual double covariance(const TimeKernel& kernel, Op op, double tau, Op op2, double tau2) const = 0;

  // Derivative of the covariance of two values in the log of parameter p.
  virtual double log_derivative(const TimeKernel& kernel, int p, double tau, double tau2) const = 0;

  // Distance in tau over which a curve can turn: infinity if a slope that is not negative at both ends of the epochs is
  // so between them, 0 if there are no slopes.
  virtual double turning_distance(const TimeKernel& kernel) const = 0;

  virtual std::optional<TimeArgument> argument() const { return std::nullopt; }

  // For forms with an argument: the covariance of functionals with that many slopes, the derivative being that in tau.
  virtual double at(const TimeKernel& kernel, int slopes, double argument) const;

  // For forms with an argument, for many of them at once: covariances of values, and a column of derivatives for the
  // log of each parameter.
  struct Evaluation {
    Vector values;
    Matrix log_derivatives;
  };
  virtual void evaluate(const TimeKernel& kernel, const Vector& arguments, Evaluation& into) const;

  // What a likelihood needs where there is no table: covariances of values at `taus` with one at tau, ...
  virtual void column(const TimeKernel& kernel,
                      const Eigen::Ref<const Vector>& taus,
                      double tau,
                      Eigen::Ref<Vector> out) const;

  // ... the sum over them of weight times derivative, added to `sums` (one per parameter) ...
  virtual void add_derivatives(const TimeKernel& kernel,
                               const Eigen::Ref<const Vector>& taus,
                               double tau,
                               const Eigen::Ref<const Vector>& weights,
                               Eigen::Ref<Vector> sums) const;

  // ... and the derivatives from these sums: a factor that all have in common may wait until here.
  virtual Vector derivatives(const TimeKernel& kernel, const Vector& sums) const;
};

}  // namespace bapi
