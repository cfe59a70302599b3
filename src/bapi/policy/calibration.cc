#include "bapi/policy/calibration.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "bapi/acquisition/improvement.h"
#include "bapi/base/error.h"
#include "bapi/cost/cost_model.h"
#include "bapi/gp/response.h"
#include "bapi/math/normal.h"
#include "bapi/study/direction.h"

namespace bapi {
namespace {

// Share of the results within the central band of each probability.
Coverage coverage_of(const std::vector<ForecastError>& errors) {
  const auto share_within = [&](double probability) {
    double within = 0.0;
    for (const ForecastError& error : errors) within += error.within(probability);
    return errors.empty() ? 0.0 : within / static_cast<double>(errors.size());
  };
  return {.count = static_cast<int>(errors.size()),
          .within_50 = share_within(0.5),
          .within_80 = share_within(0.8),
          .within_95 = share_within(0.95)};
}

// Logs of earlier versions, see Forecast::gap.
double error_in_gap_scale(const Forecast& forecast, double value, Goal goal) {
  const GapWarp warp{.best = oriented(forecast.incumbent, goal), .gap = forecast.gap};
  const double predicted = warp.apply(oriented(forecast.mean, goal));
  return (warp.apply(oriented(value, goal)) - predicted) * warp.slope(predicted) / forecast.shown_sd;
}

constexpr double kLeastShare = 1e-12;

// Whether the trial got no better than it was, but for rounding.
bool stayed(const Forecast& forecast, double value, Goal goal) {
  if (!forecast.reached || !(forecast.stays > 0.0)) return false;
  const double rounding = 1e-9 * (std::abs(*forecast.reached) + forecast.quantiles.back() - forecast.quantiles.front());
  return oriented(value, goal) <= oriented(*forecast.reached, goal) + rounding;
}

// The z of a value among quantiles: straight between two of them, and beyond the last ones as between these.
double z_among(const std::vector<double>& quantiles, double value) {
  constexpr double kFurthest = 10.0;
  std::vector<double> z;
  for (const double share : kForecastShares) z.push_back(normal_quantile(share));
  std::size_t k = 1;
  while (k + 1 < quantiles.size() && value > quantiles[k]) ++k;
  const double width = quantiles[k] - quantiles[k - 1];
  if (!(width > 0.0)) return value > quantiles[k] ? kFurthest : value < quantiles[k] ? -kFurthest : z[k];
  const double slope = (z[k] - z[k - 1]) / width;
  return std::clamp(z[k - 1] + (value - quantiles[k - 1]) * slope, -kFurthest, kFurthest);
}

// What the trial was worth by `epoch`, in the user's direction; nothing if it is not known or the run broke off before.
std::optional<double> best_by(const Trial& trial, Epoch epoch, const History& history, const KnownCurve& known) {
  std::vector<double> values;
  if (known) {
    for (const double value : known(trial.config)) values.push_back(history.in_user_units(value));
    if (std::ssize(values) < epoch) return std::nullopt;
    values.resize(static_cast<std::size_t>(epoch));
    if (history.spec().metric.of == ValueOf::last) values = {values.back()};
  } else {
    if (trial.curve.last_epoch() < epoch) return std::nullopt;
    values.push_back(trial.curve.best_by(epoch));
  }
  if (!std::all_of(values.begin(), values.end(), [](double value) { return std::isfinite(value); }))
    return std::nullopt;
  return history.in_user_units(*std::max_element(values.begin(), values.end()));
}

void tell_value(const TrainingDecision& decision,
                const History& history,
                const KnownCurve& known,
                ForecastOutcome& outcome) {
  const Rare<Forecast>& forecast = decision.why->forecast;
  if (!forecast || forecast->epoch <= decision.from) return;
  if (forecast->quantiles.empty() && !(forecast->shown_sd > 0.0)) return;
  outcome.value = best_by(history.trial(decision.trial), forecast->epoch, history, known);
  if (outcome.value) outcome.value_error = forecast_error(*forecast, *outcome.value, history.spec().metric.goal);
}

// Of all epochs of the segment; nullopt if it was cut off.
std::optional<Cost> cost_of(const TrainingDecision& decision, const History& history) {
  const Curve& curve = history.trial(decision.trial).curve;
  if (curve.last_epoch() < decision.until) return std::nullopt;
  Cost spent = 0.0;
  for (Epoch t = decision.from + 1; t <= decision.until; ++t) {
    const Measurement* m = curve.find(t);
    if (!m) return std::nullopt;  // not reported: what it cost is not known by itself
    spent += m->cost;
  }
  return spent;
}

void tell_cost(const TrainingDecision& decision, const History& history, ForecastOutcome& outcome) {
  if (!(decision.expected_cost > 0.0)) return;
  outcome.cost = cost_of(decision, history);
  const double log_sd = decision.why->price ? decision.why->price->log_sd.value_or(0.0) : 0.0;
  if (!outcome.cost || !(*outcome.cost > 0.0) || !(log_sd > 0.0)) return;
  const double error = std::log(*outcome.cost / decision.expected_cost) / log_sd;
  outcome.cost_error = log_cost_errors(decision.from).z(error);
}

}  // namespace

double log_expected_improvement(const ScoreBasis& basis) {
  return log_expected_improvement(basis.mean, basis.sd, basis.target) + basis.log_unit;
}

double ForecastError::within(double probability) const {
  const double outside = 0.5 * (1.0 - probability);
  if (stays > 0.0) return std::max(0.0, std::min(stays, 1.0 - outside) - outside) / stays;
  return std::abs(z) <= -normal_quantile(outside) ? 1.0 : 0.0;
}

ForecastError forecast_error(const Forecast& forecast, double value, Goal goal) {
  if (forecast.quantiles.empty()) return {.z = error_in_gap_scale(forecast, value, goal)};
  if (stayed(forecast, value, goal)) {
    return {.z = normal_quantile(0.5 * std::max(forecast.stays, kLeastShare)), .stays = forecast.stays};
  }
  const double z = oriented(z_among(forecast.quantiles, value), goal);
  return {.z = std::max(z, normal_quantile(std::max(forecast.stays, kLeastShare)))};
}

bool has_forecasts(const std::vector<StoredEvent>& events) {
  return std::any_of(events.begin(), events.end(), [](const StoredEvent& stored) {
    const Reason* why = reason_of(stored.event);
    return why && why->forecast;
  });
}

std::vector<TrainingDecision> training_decisions(const std::vector<StoredEvent>& events) {
  std::vector<TrainingDecision> decisions;
  std::map<TrialId, Epoch> trained;
  for (const StoredEvent& stored : events) {
    if (const auto* measured = std::get_if<Measured>(&stored.event)) {
      trained[measured->trial] = measured->measurement.epoch;
    } else if (const std::optional<TrialId> trial = trial_of(stored.event)) {
      if (const auto decision = training_decision(stored, trained[*trial])) decisions.push_back(*decision);
    }
  }
  return decisions;
}

std::optional<TrainingDecision> training_decision(const StoredEvent& stored, Epoch trained) {
  const auto of = [&](const auto& decided, Epoch from) {
    return TrainingDecision{.seq = stored.seq,
                            .at = stored.at,
                            .trial = decided.trial,
                            .from = from,
                            .until = decided.until,
                            .expected_cost = decided.expected_cost,
                            .why = &decided.why};
  };
  if (const auto* start = std::get_if<TrialStarted>(&stored.event)) return of(*start, 0);
  if (const auto* resume = std::get_if<TrialResumed>(&stored.event)) return of(*resume, trained);
  return std::nullopt;
}

std::vector<ForecastOutcome> forecast_outcomes(const History& history,
                                               std::span<const TrainingDecision> decisions,
                                               const KnownCurve& known) {
  std::vector<ForecastOutcome> outcomes;
  for (const TrainingDecision& decision : decisions) {
    ForecastOutcome& outcome = outcomes.emplace_back();
    outcome.seq = decision.seq;
    outcome.at = decision.at;
    outcome.trial = decision.trial;
    tell_value(decision, history, known, outcome);
    tell_cost(decision, history, outcome);
  }
  return outcomes;
}

std::vector<ForecastOutcome> forecast_outcomes(const History& history,
                                               const std::vector<StoredEvent>& events,
                                               const KnownCurve& known) {
  return forecast_outcomes(history, training_decisions(events), known);
}

Calibration calibration(const History& history, const std::vector<StoredEvent>& events, const KnownCurve& known) {
  return calibration(forecast_outcomes(history, events, known));
}

Calibration calibration(std::span<const ForecastOutcome> outcomes) {
  std::vector<ForecastError> value_errors;
  std::vector<ForecastError> cost_errors;
  for (const ForecastOutcome& outcome : outcomes) {
    if (outcome.value_error) value_errors.push_back(*outcome.value_error);
    if (outcome.cost_error) cost_errors.push_back({.z = *outcome.cost_error});
  }
  return {.value = coverage_of(value_errors), .cost = coverage_of(cost_errors)};
}

}  // namespace bapi
