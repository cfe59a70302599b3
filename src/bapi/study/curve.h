#pragma once

#include <limits>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "bapi/base/units.h"
#include "bapi/study/valuation.h"

namespace bapi {

struct Measurement {
  Epoch epoch = 0;
  double value = 0.0;
  Cost cost = 0.0;  // of this epoch alone
  bool operator==(const Measurement&) const = default;
};

// What a report has besides the metric that is tuned, by name. Values may be NaN or infinite.
using OtherMetrics = std::map<std::string, double>;

// A program that is ended after it has saved an epoch and before it reports it continues after that epoch: the curve
// has a gap there. At most so many epochs in a row may be missing; a program that leaves out more does not count right.
inline constexpr Epoch kMostUnreported = 3;

// The learning curve of one trial, values to be maximised. Its epochs ascend; some before the last may be missing.
//
// Values are those that count: where the study smooths them, the mean of the last reports. `best` is what the trial is
// worth, and the only place that says so: the best of them, or the last where the study counts trials by that.
class Curve {
 public:
  Curve() = default;
  explicit Curve(const Valuation& valuation) : valuation_(valuation) {}

  void append(const Measurement& m);  // LogicError unless the epoch is past the last one, value finite, cost >= 0

  bool empty() const { return points_.empty(); }
  Epoch last_epoch() const { return points_.empty() ? 0 : points_.back().epoch; }  // that was reported; 0 if empty
  Cost spent() const { return spent_; }                                            // on reported epochs
  Cost mean_cost() const { return spent_ / static_cast<double>(points_.size()); }  // of one of them; NaN if empty
  double best() const { return best_; }             // what the trial is worth; -infinity if empty
  Epoch best_epoch() const { return best_epoch_; }  // the (first) epoch with this value; 0 if empty
  double best_by(Epoch epoch) const;                // `best` as it was after `epoch`; -infinity if that was empty
  std::span<const Measurement> points() const { return points_; }
  std::span<const Measurement> reports() const;  // as reported, before they were smoothed

  const Measurement* find(Epoch epoch) const;             // null in a gap and past the last epoch
  std::span<const Measurement> up_to(Epoch epoch) const;  // what was reported of epochs 1 to `epoch`
  double value_by(Epoch epoch) const;                     // reported last up to `epoch`; the first if none was
  std::vector<Epoch> gaps() const;                        // epochs before the last that were not reported, ascending

 private:
  double smoothed_last() const;

  Valuation valuation_;
  std::vector<Measurement> points_;
  std::vector<Measurement> reports_;  // where they differ from the points: with smoothing alone
  Cost spent_ = 0.0;
  double best_ = -std::numeric_limits<double>::infinity();
  Epoch best_epoch_ = 0;
};

}  // namespace bapi
