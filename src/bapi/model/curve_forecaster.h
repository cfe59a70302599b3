#pragma once

#include <vector>

#include "bapi/model/curve_model.h"

namespace bapi {

// Learning curves of configurations that are points of R^d: row i of `x` was trained for as many epochs as `curves[i]`
// has values. A value that is not finite ends its curve: the training diverged there.
struct CurveData {
  Matrix x;  // n x d
  std::vector<std::vector<double>> curves = {};

  // Throws InvalidInput: no curve, sizes that do not match, an empty curve, coordinates that are not finite.
  void validate() const;
};

// Which values are good ones.
enum class CurveGoal { maximize, minimize };

struct CurveForecasterOptions {
  Epoch max_epoch = 0;  // of a full training; 0: as many as the longest curve has
  CurveGoal goal = CurveGoal::maximize;
  std::uint64_t seed = 0;
  CurveModelOptions model = {};
};

// The course of a curve, one entry per epoch that was asked for, with the ends of a central band.
struct CurveCourse {
  std::vector<double> mean = {};
  std::vector<double> low = {};
  std::vector<double> high = {};
};

// The curve model on its own, in the coordinates and the unit of its data. Curves are modelled by their best value so
// far, so a forecast never gets worse with training. Coordinates are scaled to the range that the data have.
class CurveForecaster {
 public:
  CurveForecaster(const CurveData& data, const CurveForecasterOptions& options);

  // What is to be expected at `x`; of one that was among the data, given its own curve. `level` is the probability of
  // the band, in (0, 1). Throws InvalidInput.
  CurveCourse predict(const Vector& x, const std::vector<Epoch>& epochs, double level) const;

  Epoch max_epoch() const { return max_epoch_; }
  const FitSummary& fit() const { return model_.surrogate->fit_summary(); }

 private:
  Vector scaled(const Vector& x) const;
  CurveId group_of(const Vector& x) const;
  double in_user_units(double standardised) const { return sign_ * model_.scale.undo(standardised); }

  Matrix x_;
  Vector low_;
  Vector width_;
  Epoch max_epoch_;
  double sign_;
  CurveModel model_;
};

}  // namespace bapi
