#include "bapi/kernel/time_kernel.h"

#include "bapi/base/error.h"

namespace bapi {

std::vector<double> TimeKernel::parameters() const {
  std::vector<double> values;
  for (const TimeParameter& parameter : form().parameters(*this)) values.push_back(this->*parameter.member);
  return values;
}

TimeKernel TimeKernel::with_parameters(const std::vector<double>& values) const {
  const std::vector<TimeParameter> all = form().parameters(*this);
  check(values.size() == all.size(), "time kernel: wrong number of parameters");
  TimeKernel changed = *this;
  for (std::size_t i = 0; i < all.size(); ++i) changed.*all[i].member = values[i];
  return changed;
}

double TimeKernel::log_derivative(int p, double tau, double tau2) const {
  check(p >= 0 && p < std::ssize(form().parameters(*this)), "time kernel: there is no such parameter");
  return form().log_derivative(*this, p, tau, tau2);
}

TimeTable::TimeTable(const TimeKernel& kernel, Epoch max_epoch)
    : kernel_(kernel), max_epoch_(max_epoch), sums_(kernel.form().argument() == TimeArgument::sum) {
  if (max_epoch <= 0 || !kernel.form().argument()) return;
  const double scale = 1.0 / max_epoch;
  const Epoch offset = sums_ ? 0 : max_epoch;
  for (int derivatives = 0; derivatives < 3; ++derivatives) {
    Vector& table = by_slopes_[derivatives];
    table.resize(2 * max_epoch + 1);
    for (int i = 0; i < table.size(); ++i) table(i) = kernel.form().at(kernel, derivatives, (i - offset) * scale);
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
    const TimeForm& form = kernel_.form();
    for (Eigen::Index k = 0; k < out.size(); ++k) {
      out(k) = form.covariance(kernel_, rows.op[first + k], rows.tau(first + k), op2, to.tau(i));
    }
    return;
  }
  const Epoch epoch2 = to.epoch[i];
  for (Eigen::Index k = 0; k < out.size(); ++k) out(k) = at(rows.op[first + k], rows.epoch[first + k], op2, epoch2);
}

}  // namespace bapi
