#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "bapi/policy/coverage.h"
#include "bapi/study/event.h"
#include "bapi/study/history.h"

namespace bapi {

// A forecast in the scale in which it is normal; to be maximised.
struct WarpedForecast {
  double mean = 0.0;
  std::optional<double> sd = {};  // as the score used it
  double measured_sd = 0.0;
  double target = 0.0;
  double log_unit = 0.0;  // of the metric's unit over that of the scale, at the incumbent

  // Of the improvement on the target, in the metric's unit: what scores of ScoreUnit::metric are made of. Requires sd.
  double log_expected_improvement() const;
};

WarpedForecast warped(const Forecast& forecast, Goal goal);

// How many predicted deviations a value (in the user's direction) came out above its forecast.
double standardised_error(const Forecast& forecast, double reached, Goal goal);

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
  std::optional<double> value_error = {};
  std::optional<Cost> cost = {};
  std::optional<double> cost_error = {};
};

// In the order of the log, one for each decision to train.
std::vector<ForecastOutcome> forecast_outcomes(const History& history,
                                               const std::vector<StoredEvent>& events,
                                               const KnownCurve& known = {});

// From the forecasts stored with the decisions and what came of them; `history` is what the events add up to. Forecasts
// whose epoch was not reached (value) or whose segment was cut off (cost) do not count.
//
// The trials that get as far as they were predicted to are those that did well on the way, so that values come out
// above their predictions even if the model is right. In a simulation `known` lets all forecasts count.
Calibration calibration(const History& history, const std::vector<StoredEvent>& events, const KnownCurve& known = {});

}  // namespace bapi
