#include "bapi/study/curve.h"

#include <algorithm>
#include <cmath>

#include "bapi/base/error.h"

namespace bapi {

void Curve::append(const Measurement& m) {
  check(m.epoch > last_epoch(), "Curve::append: the epoch does not follow the last one");
  check(std::isfinite(m.value), "Curve::append: the value is not finite");
  check(std::isfinite(m.cost) && m.cost >= 0.0, "Curve::append: the cost is negative or not finite");
  points_.push_back(m);
  spent_ += m.cost;
  if (valuation_.smooth > 1) {
    reports_.push_back(m);
    points_.back().value = smoothed_last();
  }
  const double value = points_.back().value;
  if (value > best_ || valuation_.of == ValueOf::last) {
    best_ = value;
    best_epoch_ = m.epoch;
  }
}

double Curve::smoothed_last() const {
  std::vector<double> values;
  const auto count = std::min<std::ptrdiff_t>(std::ssize(reports_), valuation_.smooth);
  for (auto report = reports_.end() - count; report != reports_.end(); ++report) values.push_back(report->value);
  return smoothed(values, valuation_.smooth);
}

std::span<const Measurement> Curve::reports() const { return valuation_.smooth > 1 ? reports_ : points_; }

double Curve::best_by(Epoch epoch) const {
  const std::span<const Measurement> known = up_to(epoch);
  if (known.empty()) return -std::numeric_limits<double>::infinity();
  if (valuation_.of == ValueOf::last) return known.back().value;
  return std::ranges::max_element(known, {}, &Measurement::value)->value;
}

std::span<const Measurement> Curve::up_to(Epoch epoch) const {
  const auto end = std::ranges::upper_bound(points_, epoch, {}, &Measurement::epoch);
  return {points_.begin(), end};
}

const Measurement* Curve::find(Epoch epoch) const {
  const std::span<const Measurement> known = up_to(epoch);
  return known.empty() || known.back().epoch != epoch ? nullptr : &known.back();
}

double Curve::value_by(Epoch epoch) const {
  check(!empty(), "Curve::value_by: the curve is empty");
  const std::span<const Measurement> known = up_to(epoch);
  return known.empty() ? points_.front().value : known.back().value;
}

std::vector<Epoch> Curve::gaps() const {
  std::vector<Epoch> missing;
  Epoch next = 1;
  for (const Measurement& m : points_) {
    for (; next < m.epoch; ++next) missing.push_back(next);
    ++next;
  }
  return missing;
}

}  // namespace bapi
