#pragma once

#include <memory>
#include <vector>

#include "bapi/policy/models.h"
#include "bapi/study/spec.h"

namespace bapi {

// Learning curves of configurations that are points of R^d: row i of `x` was trained for as many epochs as `curves[i]`
// has values. A value that is not finite ends its curve: the training diverged there.
struct CurveData {
  Matrix x;  // n x d
  std::vector<std::vector<double>> curves = {};

  // Throws InvalidInput: no curve, sizes that do not match, an empty curve, coordinates that are not finite.
  void validate() const;
};

struct CurveModelOptions {
  Epoch max_epoch = 0;  // of a full training; 0: as many as the longest curve has
  Goal goal = Goal::maximize;
  std::uint64_t seed = 0;
  ModelOptions model = {};
};

// The course of a curve, one entry per epoch that was asked for, with the ends of a central band.
struct CurveCourse {
  std::vector<double> mean = {};
  std::vector<double> low = {};
  std::vector<double> high = {};
};

// The planner's model of learning curves, on its own. Curves are modelled by their best value so far, so a forecast
// never gets worse with training. Coordinates are scaled to the range that the data have.
class CurveModel {
 public:
  CurveModel(const CurveData& data, const CurveModelOptions& options);

  // What is to be expected at `x`; of one that was among the data, given its own curve. `level` is the probability of
  // the band, in (0, 1). Throws InvalidInput.
  CurveCourse predict(const Vector& x, const std::vector<Epoch>& epochs, double level) const;

  Epoch max_epoch() const { return history_.spec().epochs.max; }
  const FitSummary& fit() const { return models_.fit; }

 private:
  Vector scaled(const Vector& x) const;
  int group_of(const Vector& x) const;

  Matrix x_;
  Vector low_;
  Vector width_;
  History history_;
  Models models_;
};

}  // namespace bapi
