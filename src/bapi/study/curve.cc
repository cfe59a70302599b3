#include "bapi/study/curve.h"

#include <cmath>

#include "bapi/base/error.h"

namespace bapi {

void Curve::append(const Measurement& m) {
  check(m.epoch == last_epoch() + 1, "Curve::append: the epoch does not follow the last one");
  check(std::isfinite(m.value), "Curve::append: the value is not finite");
  check(std::isfinite(m.cost) && m.cost >= 0.0, "Curve::append: the cost is negative or not finite");
  points_.push_back(m);
  spent_ += m.cost;
  if (m.value > best_) {
    best_ = m.value;
    best_epoch_ = m.epoch;
  }
}

}  // namespace bapi
