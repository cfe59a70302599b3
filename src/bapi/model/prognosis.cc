#include "bapi/model/prognosis.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "bapi/base/error.h"
#include "bapi/math/normal.h"

namespace bapi {
namespace {

const Vector& middles_of_parts() {
  static const Vector middles = [] {
    Vector z(Prognosis::kParts);
    for (int k = 0; k < z.size(); ++k) z[k] = normal_quantile((k + 0.5) / Prognosis::kParts);
    return z;
  }();
  return middles;
}

}  // namespace

Prognosis::Prognosis(Course course, const ResponseScale& scale, Worth worth)
    : course_(std::move(course)), scale_(scale), worth_(worth) {
  check(std::is_sorted(course_.epochs.begin(), course_.epochs.end()), "prognosis: epochs are not ascending");
  check(course_.mean.size() == std::ssize(course_.epochs) && course_.sd.size() == course_.mean.size(),
        "prognosis: one mean and one deviation for each epoch");
}

double Prognosis::modelled(Eigen::Index i, double z) const {
  const double error = course_.errors.error(z);
  if (worth_ == Worth::last_epoch) return course_.mean[i] + course_.sd[i] * error;
  const Eigen::Index later = size() - i;
  const double least = (course_.mean.tail(later) + error * course_.sd.tail(later)).minCoeff();
  return std::max(course_.reached, least);
}

double Prognosis::value(Eigen::Index i, double z) const { return scale_.undo(modelled(i, z)); }

double Prognosis::quantile(Eigen::Index i, double share) const { return value(i, normal_quantile(share)); }

double Prognosis::mean(Eigen::Index i) const {
  double sum = 0.0;
  for (const double z : middles_of_parts()) sum += value(i, z) / kParts;
  return sum;
}

double Prognosis::expected_gain(Eigen::Index i, double score) const {
  double sum = 0.0;
  for (const double z : middles_of_parts()) sum += std::max(0.0, value(i, z) - score) / kParts;
  return sum;
}

// The largest z for which the modelled value is at most `standardised`: every later epoch would have to be above.
double Prognosis::z_of(Eigen::Index i, double standardised) const {
  double error = -std::numeric_limits<double>::infinity();
  const Eigen::Index end = worth_ == Worth::last_epoch ? i + 1 : size();
  for (Eigen::Index k = i; k < end; ++k) {
    const double short_of = standardised - course_.mean[k];
    if (course_.sd[k] > 0.0) {
      error = std::max(error, short_of / course_.sd[k]);
    } else if (short_of >= 0.0) {
      return std::numeric_limits<double>::infinity();
    }
  }
  return course_.errors.z(error);
}

double Prognosis::chance_above(Eigen::Index i, double score) const {
  const double standardised = scale_.apply(score);
  if (worth_ == Worth::best_epoch && course_.reached > standardised) return 1.0;
  return normal_cdf(-z_of(i, standardised));
}

double Prognosis::chance_to_stay(Eigen::Index i) const {
  return worth_ == Worth::best_epoch ? normal_cdf(z_of(i, course_.reached)) : 0.0;
}

Vector Prognosis::course(double z) const {
  Vector values = course_.mean + course_.errors.error(z) * course_.sd;
  if (worth_ == Worth::best_epoch) {
    for (Eigen::Index i = last(); i-- > 0;) values[i] = std::min(values[i], values[i + 1]);
    values = values.cwiseMax(course_.reached);
  }
  return values.unaryExpr([this](double standardised) { return scale_.undo(standardised); });
}

Vector Prognosis::quantile_course(double share) const { return course(normal_quantile(share)); }

Vector Prognosis::mean_course() const {
  Vector sum = Vector::Zero(size());
  for (const double z : middles_of_parts()) sum += course(z) / kParts;
  return sum;
}

}  // namespace bapi
