#pragma once

#include <array>
#include <optional>
#include <vector>

#include "bapi/kernel/rows.h"
#include "bapi/kernel/time_form.h"
#include "bapi/math/types.h"

namespace bapi {

enum class TimeKind {
  exponential_decay,  // w + (1 + (tau + tau') / beta)^-alpha
  rbf,                // exp(-(tau - tau')^2 / (2 lengthscale^2))
  linear,             // bias + tau tau'
  constant            // 1: the covariance does not depend on the epoch
};

// Their formulas, a file each.
const TimeForm& exponential_decay_form();
const TimeForm& rbf_form();
const TimeForm& linear_form();
const TimeForm& constant_form();

// The formulas of a kind. A new one has its line here, and its parameters below.
inline const TimeForm& form_of(TimeKind kind) {
  switch (kind) {
    case TimeKind::exponential_decay:
      return exponential_decay_form();
    case TimeKind::rbf:
      return rbf_form();
    case TimeKind::linear:
      return linear_form();
    case TimeKind::constant:
      break;
  }
  return constant_form();
}

// The kinds that can describe learning curves, the usual one first.
inline constexpr std::array kCurveKinds = {TimeKind::exponential_decay, TimeKind::rbf};

// Covariance over the scaled epoch tau, with its derivatives in either argument and in the logs of its parameters.
//
// Exponential decay is a random mixture of decaying exponentials (rate Gamma(alpha, beta)) plus a constant of variance
// w, the asymptote: without w all configurations would end at the same value.
struct TimeKernel {
  TimeKind kind = TimeKind::exponential_decay;
  double w = 0.5;            // exponential decay; > 0
  double alpha = 1.2;        // exponential decay; > 0
  double beta = 0.3;         // exponential decay, in units of tau; > 0
  double lengthscale = 0.4;  // rbf, in units of tau; > 0
  double bias = 0.0;         // linear; >= 0, and a parameter only if > 0

  bool operator==(const TimeKernel&) const = default;

  const TimeForm& form() const { return form_of(kind); }

  // Covariance of two functionals of f at tau and tau2.
  double operator()(Op op, double tau, Op op2, double tau2) const {
    return form().covariance(*this, op, tau, op2, tau2);
  }

  // The positive parameters in a fixed order: (w, alpha, beta), (lengthscale), (bias) or ().
  std::vector<double> parameters() const;
  TimeKernel with_parameters(const std::vector<double>& values) const;

  // Derivative of the covariance of two values in the log of parameter p. LogicError if there is no such parameter.
  double log_derivative(int p, double tau, double tau2) const;
};

// A time kernel at whole epochs 0..max_epoch, tabulated where it depends on their sum or their difference alone: 2
// max_epoch + 1 numbers replace every pow() and exp().
class TimeTable {
 public:
  // max_epoch = 0 means no table: every call computes from tau.
  TimeTable(const TimeKernel& kernel, Epoch max_epoch);

  const TimeKernel& kernel() const { return kernel_; }
  Epoch max_epoch() const { return max_epoch_; }

  // Covariances of the rows first, first+1, ... (as many as `out` has) with row i of `to`. Tables are used when both
  // lists are on this table's scale.
  void covariances(const Rows& rows, Eigen::Index first, const Rows& to, Eigen::Index i, Eigen::Ref<Vector> out) const;

  // Whether rows on the scale of max_epoch find their covariances in the table.
  bool covers(Epoch max_epoch) const { return by_slopes_[0].size() > 0 && max_epoch == max_epoch_; }

  // One entry of the table, for epochs on its scale.
  double at(Op op, Epoch epoch, Op op2, Epoch epoch2) const {
    const Vector& table = by_slopes_[static_cast<std::size_t>(op) + static_cast<std::size_t>(op2)];
    if (sums_) return table(epoch + epoch2);
    const double covariance = table(epoch - epoch2 + max_epoch_);
    return op == Op::value && op2 == Op::slope ? -covariance : covariance;
  }

 private:
  bool tabulated(const Rows& rows, const Rows& to) const;

  TimeKernel kernel_;
  Epoch max_epoch_;
  bool sums_ = false;
  // By number of slopes among the two functionals. The index is the sum of epochs, or their difference plus max_epoch;
  // one slope is the derivative in the first argument.
  std::array<Vector, 3> by_slopes_;
};

}  // namespace bapi
