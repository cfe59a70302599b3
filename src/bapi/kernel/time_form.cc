#include "bapi/kernel/time_form.h"

#include "bapi/base/error.h"

namespace bapi {
namespace {

Vector arguments_of(TimeArgument argument, const Eigen::Ref<const Vector>& taus, double tau) {
  const double sign = argument == TimeArgument::sum ? 1.0 : -1.0;
  return taus.array() + sign * tau;
}

}  // namespace

double TimeForm::at(const TimeKernel&, int, double) const {
  throw LogicError("time kernel: this kind has no single argument");
}

void TimeForm::evaluate(const TimeKernel&, const Vector&, Evaluation&) const {
  throw LogicError("time kernel: this kind has no single argument");
}

void TimeForm::column(const TimeKernel& kernel,
                      const Eigen::Ref<const Vector>& taus,
                      double tau,
                      Eigen::Ref<Vector> out) const {
  Evaluation all;
  evaluate(kernel, arguments_of(argument().value(), taus, tau), all);
  out = all.values;
}

void TimeForm::add_derivatives(const TimeKernel& kernel,
                               const Eigen::Ref<const Vector>& taus,
                               double tau,
                               const Eigen::Ref<const Vector>& weights,
                               Eigen::Ref<Vector> sums) const {
  Evaluation all;
  evaluate(kernel, arguments_of(argument().value(), taus, tau), all);
  sums += all.log_derivatives.transpose() * weights;
}

Vector TimeForm::derivatives(const TimeKernel&, const Vector& sums) const { return sums; }

}  // namespace bapi
