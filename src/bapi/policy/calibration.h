#pragma once

#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "bapi/policy/coverage.h"
#include "bapi/study/event.h"
#include "bapi/study/history.h"

namespace bapi {

// Log of the expected improvement on the target, in the metric's unit: what scores of ScoreUnit::metric are made of.
double log_expected_improvement(const ScoreBasis& basis);

// How many predicted deviations a value came out above its forecast: the z of a standard normal whose share below it is
// the share of the law below the value. A trial that got no better than it was is a result of its own, with a chance
// `stays` of its own: for it, the z of the middle of that share.
struct ForecastError {
  double z = 0.0;
  double stays = 0.0;  // of a trial that got no better; 0 for all others

  // How much of the result lies within the central band of so much probability: 1 or 0, or a share of it where the band
  // ends within the chance to get no better.
  double within(double probability) const;
};

// `value` is in the user's direction.
ForecastError forecast_error(const Forecast& forecast, double value, Goal goal);

// What a configuration reaches epoch by epoch, in the user's units, where that is known beyond what was trained.
using KnownCurve = std::function<std::vector<double>(const Config&)>;

// Whether any decision came with a forecast.
bool has_forecasts(const std::vector<StoredEvent>& events);

// What came of a decision to train: the value and the cost that it was expected to lead to, and by how many predicted
// deviations they came out above. nullopt: nothing was predicted, or it is not known what came of it.
struct ForecastOutcome {
  EventSeq seq = 0;  // of the decision
  double at = 0.0;
  TrialId trial{};
  std::optional<double> value = {};  // the best by the epoch of the forecast, in the user's direction
  std::optional<ForecastError> value_error = {};
  std::optional<Cost> cost = {};
  std::optional<double> cost_error = {};
};

// A decision to train, with what was expected of it.
struct TrainingDecision {
  EventSeq seq = 0;
  double at = 0.0;
  TrialId trial{};
  Epoch from = 0;  // what the trial had reported by then
  Epoch until = 0;
  Cost expected_cost = 0.0;
  const Reason* why = nullptr;  // inside the event
};

// nullopt for all other events. `trained` is the last epoch that its trial had reported.
std::optional<TrainingDecision> training_decision(const StoredEvent& stored, Epoch trained);

// All of a log, which has to outlive them.
std::vector<TrainingDecision> training_decisions(const std::vector<StoredEvent>& events);

// In their order, one for each.
std::vector<ForecastOutcome> forecast_outcomes(const History& history,
                                               std::span<const TrainingDecision> decisions,
                                               const KnownCurve& known = {});
std::vector<ForecastOutcome> forecast_outcomes(const History& history,
                                               const std::vector<StoredEvent>& events,
                                               const KnownCurve& known = {});

// From the forecasts stored with the decisions and what came of them; `history` is what the events add up to. Forecasts
// whose epoch was not reached (value) or whose segment was cut off (cost) do not count.
//
// The trials that get as far as they were predicted to are those that did well on the way, so that values come out
// above their predictions even if the model is right. In a simulation `known` lets all forecasts count.
Calibration calibration(std::span<const ForecastOutcome> outcomes);
Calibration calibration(const History& history, const std::vector<StoredEvent>& events, const KnownCurve& known = {});

}  // namespace bapi
