#pragma once

#include <vector>

#include "bapi/base/units.h"
#include "bapi/kernel/rows.h"
#include "bapi/math/types.h"

namespace bapi {

// What is to be expected of a curve beyond its last value.
enum class CurveFate {
  open,     // it may be continued
  running,  // it is being continued
  ended,    // nothing more is to come: its last value stands for the last epoch
  failed,   // the training broke down: nothing is known beyond its last value
};

// No training is planned to end before `min`, none goes beyond `max`.
struct CurveEpochs {
  Epoch min = 1;
  Epoch max = 1;
};

// One learning curve as models see it.
struct LearningCurve {
  CurveId id = 0;
  Vector x;                         // in the unit cube
  std::vector<double> values = {};  // of epochs 1, 2, ... but for `gaps`; finite, to be maximised
  std::vector<Epoch> gaps = {};     // epochs without a value, ascending, all before the last that has one
  CurveFate fate = CurveFate::open;
  Cost first_epoch_cost = 0.0;  // 0: not known
  Cost half_cost = 0.0;         // of the first half of its epochs, rounded down; 0: not known
  Cost cost = 0.0;              // of all epochs that have a value

  Epoch last_epoch() const { return static_cast<Epoch>(values.size() + gaps.size()); }
  std::vector<Epoch> epochs() const;  // of the values
  std::vector<double> dense() const;  // of epochs 1, 2, ..., `gaps` bridged by straight lines
  Cost full_cost() const;             // of epochs 1, 2, ..., `gaps` at the mean of the others
  double best() const;                // -infinity if there is no value
};

// A training that has been decided on and has not ended.
struct RunningCurve {
  CurveAt at;
  Epoch until = 0;
};

// The rows at which running trainings are expected to be seen next: at the end of what was decided, or at the last
// epoch.
Rows pending_at_their_ends(const std::vector<RunningCurve>& running, Epoch max_epoch);
Rows pending_at_last_epoch(const std::vector<RunningCurve>& running, Epoch max_epoch);

// One row of x for each.
Matrix stacked_x(const std::vector<RunningCurve>& running);

}  // namespace bapi
