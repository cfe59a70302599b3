#pragma once

#include "bapi/cost/cost_model.h"
#include "bapi/model/curve_model.h"
#include "bapi/model/expectations.h"
#include "bapi/policy/evidence.h"
#include "bapi/study/reason.h"

namespace bapi {

// How the value that a trial has reached enters forecasts of its further course.
enum class Reached {
  known,  // as well as the fluctuation of curves allows
  noisy,  // as one more observation of the model
};

struct ModelOptions {
  CurveModelOptions curves = {};
  Reached reached = Reached::known;
  CostForm cost = CostForm::log_rate;

  // Whether the curves of earlier studies count (see fit_models()); without them a warm start tries configurations
  // alone.
  bool earlier_curves = true;

  // The cost model learns from at most this many trials, evenly taken.
  int cost_trials = 300;
};

// What is believed about a study: its learning curves, numbered by trial, and its costs.
struct Models : CurveModel {
  CostModel cost;
  double reached_variance = 0.0;  // of the value that a trial has reached, see Reached

  // What is expected of curves at one epoch each, and the law of one of them from an epoch to the last.
  Expectations expected(const std::vector<CurveAt>& curves, const std::vector<Epoch>& epochs) const {
    return expectations(*this, *surrogate, curves, epochs, reached_variance);
  }
  Prognosis law_from(const CurveAt& at, Epoch first) const;

  // Scores are compared in the scale of the model and told in the unit of the metric.
  void tell_in_metric(Reason& why) const;
};

// Fits both models to everything the history holds. Deterministic given the stream. Requires at least one trial with a
// value.
//
// Earlier studies of a warm start count as far as the data follow them (model/earlier_trend.h).
//
// Failed trials: the epochs that they reported count as they are, values and costs. That they failed is for
// Evidence::failures() alone.
Models fit_models(const Evidence& evidence, const ModelOptions& options, Rng& rng);

}  // namespace bapi
