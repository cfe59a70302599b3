#include "bapi/kernel/time_kernel.h"

#include <cmath>

#include "bapi/base/error.h"

namespace bapi {
namespace {

int slopes(Op op, Op op2) { return static_cast<int>(op) + static_cast<int>(op2); }

double decay(const TimeKernel& kernel, int derivatives, double sum) {
  const double u = 1.0 + sum / kernel.beta;
  const double alpha = kernel.alpha;
  const double beta = kernel.beta;
  if (derivatives == 0) return kernel.w + std::pow(u, -alpha);
  if (derivatives == 1) return -(alpha / beta) * std::pow(u, -alpha - 1.0);
  return alpha * (alpha + 1.0) / (beta * beta) * std::pow(u, -alpha - 2.0);
}

// `difference` = tau - tau'. One derivative is the one in tau; the one in tau' is its negative.
double rbf(const TimeKernel& kernel, int derivatives, double difference) {
  const double precision = 1.0 / (kernel.lengthscale * kernel.lengthscale);
  const double scaled = difference * difference * precision;
  const double k = std::exp(-0.5 * scaled);
  if (derivatives == 0) return k;
  if (derivatives == 1) return -difference * precision * k;
  return precision * (1.0 - scaled) * k;
}

double linear(const TimeKernel& kernel, Op op, double tau, Op op2, double tau2) {
  const double first = op == Op::value ? tau : 1.0;
  const double second = op2 == Op::value ? tau2 : 1.0;
  return first * second + (slopes(op, op2) == 0 ? kernel.bias : 0.0);
}

}  // namespace

double TimeKernel::operator()(Op op, double tau, Op op2, double tau2) const {
  switch (kind) {
    case TimeKind::exponential_decay:
      return decay(*this, slopes(op, op2), tau + tau2);
    case TimeKind::rbf: {
      const double covariance = rbf(*this, slopes(op, op2), tau - tau2);
      return op == Op::value && op2 == Op::slope ? -covariance : covariance;
    }
    case TimeKind::linear:
      return linear(*this, op, tau, op2, tau2);
    case TimeKind::constant:
      return slopes(op, op2) == 0 ? 1.0 : 0.0;
  }
  throw LogicError("time kernel: unknown kind");
}

std::vector<double> TimeKernel::parameters() const {
  switch (kind) {
    case TimeKind::exponential_decay:
      return {w, alpha, beta};
    case TimeKind::rbf:
      return {lengthscale};
    case TimeKind::linear:
      return bias > 0.0 ? std::vector<double>{bias} : std::vector<double>{};
    case TimeKind::constant:
      return {};
  }
  throw LogicError("time kernel: unknown kind");
}

TimeKernel TimeKernel::with_parameters(const std::vector<double>& values) const {
  check(values.size() == parameters().size(), "time kernel: wrong number of parameters");
  TimeKernel changed = *this;
  if (kind == TimeKind::exponential_decay) {
    changed.w = values[0];
    changed.alpha = values[1];
    changed.beta = values[2];
  } else if (kind == TimeKind::rbf) {
    changed.lengthscale = values[0];
  } else if (kind == TimeKind::linear && !values.empty()) {
    changed.bias = values[0];
  }
  return changed;
}

std::vector<const char*> TimeKernel::parameter_names() const {
  switch (kind) {
    case TimeKind::exponential_decay:
      return {"w", "alpha", "beta"};
    case TimeKind::rbf:
      return {"ell_t"};
    case TimeKind::linear:
      return bias > 0.0 ? std::vector<const char*>{"bias"} : std::vector<const char*>{};
    case TimeKind::constant:
      return {};
  }
  throw LogicError("time kernel: unknown kind");
}

double TimeKernel::log_derivative(int p, double tau, double tau2) const {
  if (kind == TimeKind::exponential_decay) {
    const double scaled_sum = (tau + tau2) / beta;
    const double u = 1.0 + scaled_sum;
    if (p == 0) return w;
    if (p == 1) return -alpha * std::log(u) * std::pow(u, -alpha);
    return alpha * scaled_sum * std::pow(u, -alpha - 1.0);
  }
  if (kind == TimeKind::rbf) {
    const double scaled = (tau - tau2) / lengthscale;
    return scaled * scaled * std::exp(-0.5 * scaled * scaled);
  }
  check(kind == TimeKind::linear && bias > 0.0, "time kernel: this kind has no parameters");
  return bias;
}

TimeTable::TimeTable(const TimeKernel& kernel, Epoch max_epoch) : kernel_(kernel), max_epoch_(max_epoch) {
  const bool has_table = kernel.kind == TimeKind::exponential_decay || kernel.kind == TimeKind::rbf;
  if (max_epoch <= 0 || !has_table) return;
  const double scale = 1.0 / max_epoch;
  for (int derivatives = 0; derivatives < 3; ++derivatives) {
    Vector& table = by_slopes_[derivatives];
    table.resize(2 * max_epoch + 1);
    for (int i = 0; i < table.size(); ++i) {
      table(i) = kernel.kind == TimeKind::exponential_decay ? decay(kernel, derivatives, i * scale)
                                                            : rbf(kernel, derivatives, (i - max_epoch) * scale);
    }
  }
}

bool TimeTable::tabulated(const Rows& rows, const Rows& to) const {
  return covers(rows.max_epoch) && covers(to.max_epoch);
}

void TimeTable::covariances(
    const Rows& rows, Eigen::Index first, const Rows& to, Eigen::Index i, Eigen::Ref<Vector> out) const {
  const Op op2 = to.op[i];
  if (kernel_.kind == TimeKind::constant) {
    for (Eigen::Index k = 0; k < out.size(); ++k) out(k) = slopes(rows.op[first + k], op2) == 0 ? 1.0 : 0.0;
    return;
  }
  if (!tabulated(rows, to)) {
    for (Eigen::Index k = 0; k < out.size(); ++k) {
      out(k) = kernel_(rows.op[first + k], rows.tau(first + k), op2, to.tau(i));
    }
    return;
  }
  const Epoch epoch2 = to.epoch[i];
  for (Eigen::Index k = 0; k < out.size(); ++k) out(k) = at(rows.op[first + k], rows.epoch[first + k], op2, epoch2);
}

}  // namespace bapi
