#include "bapi/policy/calibration.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "bapi/acquisition/improvement.h"
#include "bapi/base/error.h"
#include "bapi/gp/response.h"
#include "bapi/study/direction.h"

namespace bapi {
namespace {

// Share of standardised errors within the central band of each probability.
Coverage coverage_of(const std::vector<double>& errors) {
  const auto share_within = [&](double quantile) {
    const auto within = std::count_if(errors.begin(), errors.end(), [&](double z) { return std::abs(z) <= quantile; });
    return errors.empty() ? 0.0 : static_cast<double>(within) / static_cast<double>(errors.size());
  };
  return {.count = static_cast<int>(errors.size()),
          .within_50 = share_within(0.6744897501960817),
          .within_80 = share_within(1.2815515655446004),
          .within_95 = share_within(1.959963984540054)};
}

// A decision to train, with what was expected of it.
struct Segment {
  TrialId trial{};
  Epoch from = 0;
  Epoch until = 0;
  Cost expected_cost = 0.0;
  const Reason& why;
};

std::vector<Segment> segments_of(const std::vector<StoredEvent>& events) {
  std::vector<Segment> segments;
  std::map<TrialId, Epoch> trained;
  for (const StoredEvent& stored : events) {
    if (const auto* start = std::get_if<TrialStarted>(&stored.event)) {
      segments.push_back({start->trial, 0, start->until, start->expected_cost, start->why});
    } else if (const auto* resume = std::get_if<TrialResumed>(&stored.event)) {
      segments.push_back({resume->trial, trained[resume->trial], resume->until, resume->expected_cost, resume->why});
    } else if (const auto* measured = std::get_if<Measured>(&stored.event)) {
      trained[measured->trial] = measured->measurement.epoch;
    }
  }
  return segments;
}

GapWarp warp_of(const Forecast& forecast, Goal goal) {
  return {.best = oriented(forecast.incumbent, goal), .gap = forecast.gap};
}

// The best value by `epoch`, in the user's direction; nothing if it is not known or the run broke off before.
std::optional<double> best_by(const Trial& trial, Epoch epoch, const History& history, const KnownCurve& known) {
  std::vector<double> values;
  if (known) {
    for (const double value : known(trial.config)) values.push_back(history.in_user_units(value));
  } else {
    for (Epoch t = 1; t <= trial.curve.last_epoch(); ++t) values.push_back(trial.curve.value(t));
  }
  if (std::ssize(values) < epoch) return std::nullopt;
  values.resize(static_cast<std::size_t>(epoch));
  if (!std::all_of(values.begin(), values.end(), [](double value) { return std::isfinite(value); }))
    return std::nullopt;
  return history.in_user_units(*std::max_element(values.begin(), values.end()));
}

// nullopt: nothing was predicted of the value, or nothing came of it.
std::optional<double> value_error(const Segment& segment, const History& history, const KnownCurve& known) {
  const Rare<Forecast>& forecast = segment.why.forecast;
  if (!forecast || !(forecast->shown_sd > 0.0) || forecast->epoch <= segment.from) return std::nullopt;
  const std::optional<double> reached = best_by(history.trial(segment.trial), forecast->epoch, history, known);
  if (!reached) return std::nullopt;
  return standardised_error(*forecast, *reached, history.spec().metric.goal);
}

std::optional<double> cost_error(const Segment& segment, const History& history) {
  const Curve& curve = history.trial(segment.trial).curve;
  const double log_sd = segment.why.price ? segment.why.price->log_sd.value_or(0.0) : 0.0;
  if (!(log_sd > 0.0) || !(segment.expected_cost > 0.0) || curve.last_epoch() < segment.until) return std::nullopt;
  Cost spent = 0.0;
  for (Epoch t = segment.from + 1; t <= segment.until; ++t) {
    spent += curve.points()[static_cast<std::size_t>(t) - 1].cost;
  }
  if (!(spent > 0.0)) return std::nullopt;
  return std::log(spent / segment.expected_cost) / log_sd;
}

}  // namespace

WarpedForecast warped(const Forecast& forecast, Goal goal) {
  const GapWarp warp = warp_of(forecast, goal);
  const double mean = warp.apply(oriented(forecast.mean, goal));
  const double slope = warp.slope(mean);
  return {.mean = mean,
          .sd = forecast.sd ? std::optional(*forecast.sd / slope) : std::nullopt,
          .measured_sd = forecast.shown_sd / slope,
          .target = warp.apply(oriented(forecast.target, goal)),
          .log_unit = std::log(warp.slope(warp.apply(oriented(forecast.incumbent, goal))))};
}

double WarpedForecast::log_expected_improvement() const {
  check(sd.has_value(), "log_expected_improvement: the forecast does not say what the score used");
  return bapi::log_expected_improvement(mean, *sd, target) + log_unit;
}

double standardised_error(const Forecast& forecast, double reached, Goal goal) {
  const GapWarp warp = warp_of(forecast, goal);
  const double predicted = warp.apply(oriented(forecast.mean, goal));
  return (warp.apply(oriented(reached, goal)) - predicted) * warp.slope(predicted) / forecast.shown_sd;
}

bool has_forecasts(const std::vector<StoredEvent>& events) {
  return std::any_of(events.begin(), events.end(), [](const StoredEvent& stored) {
    const Reason* why = reason_of(stored.event);
    return why && why->forecast;
  });
}

Calibration calibration(const History& history, const std::vector<StoredEvent>& events, const KnownCurve& known) {
  const std::vector<Segment> segments = segments_of(events);
  std::vector<double> value_errors;
  std::vector<double> cost_errors;
  for (const Segment& segment : segments) {
    if (const std::optional<double> error = value_error(segment, history, known)) value_errors.push_back(*error);
    if (const std::optional<double> error = cost_error(segment, history)) cost_errors.push_back(*error);
  }
  return {.value = coverage_of(value_errors), .cost = coverage_of(cost_errors)};
}

}  // namespace bapi
