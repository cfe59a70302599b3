#pragma once

#include <vector>

#include "bapi/base/rng.h"
#include "bapi/gp/exact_gp.h"
#include "bapi/model/curve_compression.h"
#include "bapi/model/learning_curve.h"

namespace bapi {

struct BoilModelOptions {
  int virtual_points = 10;  // per full curve at most; a shorter one has its share of them
  int fit_trials = 20;      // hyperparameters drawn before the best is improved; 0 keeps the defaults
  int max_rows = 300;       // of the model
  int fit_rows = 150;       // that hyperparameters are fitted to, evenly taken
};

// exp(-|x - x'|^2 / space - (t - t')^2 / time), without a factor 2 and without squares of the scales.
struct BoilParameters {
  double space = 0.02;
  double time = 0.2;
  CurveWeights weights = {};
};

// What BOIL learns from: a row is a configuration with the first so many epochs of its curve, the whole curve or, as a
// virtual point, a beginning of it.
struct BoilData {
  Matrix x;                                     // n x d, encoded
  Vector t;                                     // n, epochs scaled to [0, 1]
  std::vector<std::span<const double>> curves;  // n, values made to begin at 0 if there are negative ones
  Vector costs;                                 // n; virtual points cost their share of the epochs
  Epoch max_epoch = 1;

  std::vector<std::vector<double>> values = {};  // what the curves are parts of

  BoilData() = default;
  BoilData(const BoilData&) = delete;
  BoilData(BoilData&&) = default;
  BoilData& operator=(const BoilData&) = delete;
  BoilData& operator=(BoilData&&) = default;
};

// Epochs scaled to [0, 1]; 1 if there is only one length.
double scaled_epoch(const CurveEpochs& range, Epoch epoch);

// How many virtual points a curve up to the scaled epoch t may have.
int virtual_points(double t, const BoilModelOptions& options);

// Rows of all curves that have a value and are not being trained; there is at least one. Failed ones count as far as
// they got. The virtual points of a curve are, one by one, the epochs at which the model is least certain of this
// configuration. (With at most 300 rows the covariance is never too ill-conditioned for one more: its eigenvalues lie
// between the noise and the number of rows.)
BoilData boil_data(const std::vector<LearningCurve>& curves, CurveEpochs range, const BoilModelOptions& options);

// Log likelihood of the standardised scores and its derivatives in (space, time, middle, growth).
struct BoilLikelihood {
  double value = 0.0;
  Vector gradient;
};
BoilLikelihood boil_likelihood(const BoilData& data, const BoilParameters& parameters);

// Linear prediction of costs that were scaled to [0, 1].
struct ScaledCost {
  Vector slope;  // d + 1, t last
  double constant = 0.0;

  double at(const Vector& xt) const { return constant + slope.dot(xt); }
};
ScaledCost fit_scaled_cost(const BoilData& data);

struct BoilModel {
  BoilParameters parameters;
  ExactGp gp;  // of standardised scores, rows at arbitrary tau = t; running trials at their mean
  ScaledCost cost;
};
// `known` are the curves of all trainings, `running` those that go on: they stand at the mean of where they will end.
BoilModel fit_boil(const std::vector<LearningCurve>& known,
                   const std::vector<RunningCurve>& running,
                   CurveEpochs epochs,
                   const BoilModelOptions& options,
                   Rng& rng);

// Moments and their gradients in (x, t) at the columns of xt, (d + 1) x m.
struct SpaceTimeMoments {
  Vector mean;
  Vector variance;  // latent
  Matrix mean_gradient;
  Matrix variance_gradient;
};
Moments boil_moments(const Surrogate& gp, const Matrix& xt);
SpaceTimeMoments boil_gradients(const ExactGp& gp, const Matrix& xt);

}  // namespace bapi
