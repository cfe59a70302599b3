#pragma once

#include "bapi/cost/cost_model.h"
#include "bapi/model/curve_model.h"
#include "bapi/policy/evidence.h"
#include "bapi/study/reason.h"

namespace bapi {

struct ModelOptions {
  CurveModelOptions curves = {};
  CostForm cost = CostForm::log_rate;

  // The cost model learns from at most this many trials, evenly taken.
  int cost_trials = 300;
};

// What is believed about a study: its learning curves, numbered by trial, and its costs.
struct Models : CurveModel {
  CostModel cost;

  double to_user(const History& history, double standardised) const {
    return history.in_user_units(scale.undo(standardised));
  }

  // Scores are compared in the scale of the model and told in the unit of the metric.
  void tell_in_metric(Reason& why) const;
};

// Fits both models to everything the history holds. Deterministic given the stream. Requires at least one trial with a
// value or a failure.
//
// Failed trials: epochs they reported count as they are; the last epoch counts as bad as the worst value that the
// clipping rule lets stand, so the search keeps away from their neighbourhood and nothing explodes. Their costs inform
// the cost model as far as they were measured.
Models fit_models(const Evidence& evidence, const ModelOptions& options, Rng& rng);

}  // namespace bapi
