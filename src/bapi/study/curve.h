#pragma once

#include <limits>
#include <span>
#include <vector>

#include "bapi/base/units.h"

namespace bapi {

struct Measurement {
  Epoch epoch = 0;
  double value = 0.0;
  Cost cost = 0.0;  // of this epoch alone
  bool operator==(const Measurement&) const = default;
};

// The learning curve of one trial, values to be maximised.
class Curve {
 public:
  void append(const Measurement& m);  // LogicError unless the epoch follows the last one, value finite, cost >= 0

  bool empty() const { return points_.empty(); }
  Epoch last_epoch() const { return static_cast<Epoch>(points_.size()); }  // 0 if empty
  Cost spent() const { return spent_; }
  double best() const { return best_; }             // running maximum; -infinity if empty
  Epoch best_epoch() const { return best_epoch_; }  // where it was reached first; 0 if empty
  double value(Epoch epoch) const { return points_.at(static_cast<std::size_t>(epoch) - 1).value; }
  std::span<const Measurement> points() const { return points_; }

 private:
  std::vector<Measurement> points_;
  Cost spent_ = 0.0;
  double best_ = -std::numeric_limits<double>::infinity();
  Epoch best_epoch_ = 0;
};

}  // namespace bapi
