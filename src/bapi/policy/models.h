#pragma once

#include <vector>

#include "bapi/cost/cost_model.h"
#include "bapi/gp/exact_gp.h"
#include "bapi/gp/fit.h"
#include "bapi/gp/response.h"
#include "bapi/gp/slope_constraint.h"
#include "bapi/study/history.h"

namespace bapi {

// Which epochs of a curve become data.
enum class PointRule {
  rungs,   // the last epoch and, going back, every epoch halved: dense where the curve was decided upon
  greedy,  // up to three of largest variance, the last always among them
  last,    // the last epoch only
};

enum class TimeChoice { exponential_decay, rbf, by_evidence };

struct ModelOptions {
  TimeChoice time = TimeChoice::exponential_decay;
  bool own_term = true;  // what is not smooth in x is a trial's own
  bool clip = true;      // values below median - 2 (best - median) are raised to it
  bool warp = true;      // values count by the log of their distance from the best
  ResponseKind response = ResponseKind::running_maximum;
  PointRule points = PointRule::rungs;
  CostForm cost = CostForm::log_rate;
  Monotonicity monotone = Monotonicity::on;  // of forecasts and stops

  // Beyond this many rows the trials with the worst values keep only their last point, then the worst are left out.
  int max_rows = 800;

  // Hyperparameters are fitted on at most this many rows, evenly taken by trial.
  int fit_rows = 150;

  // The cost model learns from at most this many trials, evenly taken.
  int cost_trials = 300;
};

// What is believed about a study: its learning curves and its costs.
struct Models {
  ExactGp gp;              // rows: trials that reported, group = trial number; standardised values
  ResponseScale scale;     // of the values (to be maximised)
  double best = 0.0;       // best observed value, standardised
  double range = 1.0;      // of the observed values, bad ones clipped, standardised
  double fluctuation = 0;  // variance of a standardised value about the course of its curve, in the better trials
  SlopeConstraint slopes;  // for the monotone posterior
  CostModel cost;
  FitSummary fit;

  // Standard deviation of an observation, in the unit of the metric, from mean and deviation of the latent value.
  double observed_sd(double mean, double latent_sd) const;

  double to_user(const History& history, double standardised) const {
    return history.in_user_units(scale.undo(standardised));
  }
};

// Fits both models to everything the history holds. Deterministic given the stream. Requires at least one trial with a
// value or a failure.
//
// Failed trials: epochs they reported count as they are; the last epoch counts as bad as the worst value that the
// clipping rule lets stand, so the search keeps away from their neighbourhood and nothing explodes. Their costs inform
// the cost model as far as they were measured.
Models fit_models(const History& history, const ModelOptions& options, Rng& rng);

bool has_data(const History& history);

}  // namespace bapi
