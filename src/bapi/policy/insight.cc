#include "bapi/policy/insight.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "bapi/acquisition/improvement.h"
#include "bapi/base/error.h"
#include "bapi/gp/joint_draws.h"
#include "bapi/math/normal.h"
#include "bapi/math/truncated_normal.h"

namespace bapi {
namespace {

constexpr double kNinetyPercentQuantile = 1.2815515655446004;

Models models_of(const History& history, const BapiOptions& options, const Rng& rng) {
  require(history.incumbent().has_value(), "no trial has reported a value yet: there is nothing to predict from");
  Rng stream = rng.fork("models");
  return fit_models(history, options.model, stream);
}

// The value below which a share of the weight lies; `order` sorts the values.
double weighted_quantile(const std::vector<std::size_t>& order,
                         const Vector& values,
                         const Vector& weights,
                         double share) {
  double below = 0.0;
  for (const std::size_t i : order) {
    below += weights[static_cast<Eigen::Index>(i)];
    if (below >= share) return values[static_cast<Eigen::Index>(i)];
  }
  return values[static_cast<Eigen::Index>(order.back())];
}

}  // namespace

Insight::Insight(const History& history, const BapiOptions& options)
    : history_(history),
      options_(options),
      rng_(Rng(history.spec().seed).fork("insight", static_cast<std::uint64_t>(history.decisions()))),
      models_(models_of(history, options, rng_)) {}

Prediction Insight::in_user_units(double mean, double sd) const {
  const double a = models_.to_user(history_, mean - kNinetyPercentQuantile * sd);
  const double b = models_.to_user(history_, mean + kNinetyPercentQuantile * sd);
  return {.mean = models_.to_user(history_, mean), .low = std::min(a, b), .high = std::max(a, b)};
}

CurveForecast Insight::forecast(const Trial& trial) const {
  const Epoch max_epoch = history_.spec().epochs.max;
  const Vector x = history_.spec().space.encode(trial.config);
  const int group = static_cast<int>(index(trial.id));
  const MonotoneGp posterior(models_.gp, Constraint::on_slopes(models_.slopes, x, group));
  CurveForecast forecast{.trial = trial.id, .done = trial.curve.last_epoch()};
  forecast.epochs.resize(static_cast<std::size_t>(max_epoch));
  std::iota(forecast.epochs.begin(), forecast.epochs.end(), 1);
  const Moments moments = posterior.predict(Rows::of_curve(x, forecast.epochs, max_epoch, group));
  for (Eigen::Index i = 0; i < moments.mean.size(); ++i) {
    forecast.curve.push_back(in_user_units(moments.mean[i], std::sqrt(moments.variance[i])));
  }
  const double epsilon = stop_tolerance(history_, models_, options_);
  forecast.stop = conservative_stop(posterior, x, group, stop_rule(history_, forecast.done, epsilon));
  forecast.cost_to_finish = forecast.done < max_epoch ? cost_to(history_, models_, x, forecast.done, max_epoch) : 0.0;
  const Eigen::Index last = moments.mean.size() - 1;
  const double sd = std::sqrt(moments.variance[last]);
  if (sd > 0.0) forecast.chance_of_best = normal_cdf((moments.mean[last] - models_.best) / sd);
  return forecast;
}

std::vector<Outlook> Insight::outlook(const Horizon& horizon) const {
  const double now = models_.to_user(history_, models_.best);
  std::vector<Outlook> outlook = {{.cost = 0.0, .best = {.mean = now, .low = now, .high = now}}};
  if (horizon.empty()) return outlook;
  constexpr int kDraws = 1024;
  constexpr double kFewDraws = kDraws / 4.0;
  Rng stream = rng_.fork("outlook");
  JointDraws draws(models_.gp,
                   models_.slopes,
                   BaseSamples::draw(kDraws, static_cast<int>(horizon.runs.size()), models_.slopes.size(), stream));
  double mean = models_.best;
  const auto tell = [&](const Vector& best, const Vector& weights) {
    mean = std::max(mean, weights.dot(best));  // but for rounding it is the greater one
    std::vector<std::size_t> order(static_cast<std::size_t>(kDraws));
    std::iota(order.begin(), order.end(), 0);
    std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
      return best[static_cast<Eigen::Index>(a)] < best[static_cast<Eigen::Index>(b)];
    });
    const double a = models_.to_user(history_, weighted_quantile(order, best, weights, 0.1));
    const double b = models_.to_user(history_, weighted_quantile(order, best, weights, 0.9));
    outlook.push_back(
        {.cost = outlook.back().cost + horizon.runs[outlook.size() - 1].cost,
         .best = {.mean = models_.to_user(history_, mean), .low = std::min(a, b), .high = std::max(a, b)}});
  };
  // What is known of the curves of all runs counts after each of them, so that the outlook never gets worse; but once
  // few of the draws carry the weight, the runs so far are told and these draws serve as all.
  Vector best = Vector::Constant(kDraws, models_.best);
  std::vector<Vector> untold;
  const auto tell_all = [&] {
    const Vector weights = normalised_weights(draws.log_weights());
    for (const Vector& after : untold) tell(after, weights);
    untold.clear();
  };
  for (const PlannedRun& run : horizon.runs) {
    draws.append(draws.extend({models_.slopes.rows_and_value(run.x, run.group, run.until)}).front());
    best = best.cwiseMax(draws.values().rightCols(1)).eval();
    untold.push_back(best);
    if (effective_size(draws.log_weights()) >= kFewDraws) continue;
    tell_all();
    const Vector before = best;
    const std::vector<Eigen::Index> source = draws.resample();
    for (std::size_t k = 0; k < source.size(); ++k) best[static_cast<Eigen::Index>(k)] = before[source[k]];
  }
  tell_all();
  return outlook;
}

PlanSummary Insight::plan(Cost budget, int length) const {
  const std::vector<Candidate> candidates = listed_candidates(history_);
  BapiOptions options = options_;
  options.horizon = length;
  Rng stream = rng_.fork("plan");
  const Horizon horizon = plan_study(history_, models_, candidates, options, budget, stream);
  PlanSummary summary{.budget = budget, .left = budget, .outlook = outlook(horizon)};
  for (std::size_t i = 0; i < horizon.runs.size(); ++i) {
    const PlannedRun& run = horizon.runs[i];
    const Candidate* candidate = run.candidate >= 0 ? &candidates[static_cast<std::size_t>(run.candidate)] : nullptr;
    summary.left -= run.cost;
    summary.runs.push_back({.trial = candidate ? candidate->trial : std::nullopt,
                            .config = candidate ? candidate->config : history_.spec().space.decode(run.x),
                            .from = run.from,
                            .until = run.until,
                            .cost = run.cost,
                            .value = in_user_units(run.mean, run.sd),
                            .improvement = std::exp(run.log_improvement) * models_.scale.slope(models_.best),
                            .next = static_cast<int>(i) == horizon.chosen});
  }
  return summary;
}

namespace {

// Share of standardised errors within the central band of each probability.
Coverage coverage_of(const std::vector<double>& errors) {
  const auto share_within = [&](double quantile) {
    const auto within = std::count_if(errors.begin(), errors.end(), [&](double z) { return std::abs(z) <= quantile; });
    return errors.empty() ? 0.0 : static_cast<double>(within) / static_cast<double>(errors.size());
  };
  return {.count = static_cast<int>(errors.size()),
          .within_50 = share_within(0.6744897501960817),
          .within_80 = share_within(kNinetyPercentQuantile),
          .within_95 = share_within(1.959963984540054)};
}

struct StoredPrediction {
  TrialId trial{};
  Epoch from = 0;
  Epoch until = 0;
  Cost expected_cost = 0.0;
  Rationale why;
};

// How many predicted deviations the value came out beside its forecast, in the scale in which forecasts are normal.
double standardised_error(const Rationale& why, double reached, const History& history) {
  const GapWarp warp{.best = history.in_user_units(why.number("incumbent").value_or(0.0)),
                     .gap = why.number("gap").value_or(0.0)};
  const double predicted = warp.apply(history.in_user_units(*why.number("predicted")));
  return (warp.apply(reached) - predicted) * warp.slope(predicted) / *why.number("sd");
}

// The best value (to be maximised) by `epoch`; nothing if it is not known or the run broke off before.
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
  return *std::max_element(values.begin(), values.end());
}

// nullopt: nothing was predicted of the value, or nothing came of it.
std::optional<double> value_error(const StoredPrediction& p, const History& history, const KnownCurve& known) {
  const auto sd = p.why.number("sd");
  const auto at = p.why.number("at_epoch") ? p.why.number("at_epoch") : p.why.number("stop");
  if (!sd || !(*sd > 0.0) || !p.why.number("predicted") || !at || *at <= p.from) return std::nullopt;
  const std::optional<double> reached = best_by(history.trial(p.trial), static_cast<Epoch>(*at), history, known);
  if (!reached) return std::nullopt;
  return standardised_error(p.why, *reached, history);
}

std::optional<double> cost_error(const StoredPrediction& p, const History& history) {
  const Curve& curve = history.trial(p.trial).curve;
  const auto log_sd = p.why.number("cost_log_sd");
  if (!log_sd || !(*log_sd > 0.0) || !(p.expected_cost > 0.0) || curve.last_epoch() < p.until) return std::nullopt;
  Cost spent = 0.0;
  for (Epoch t = p.from + 1; t <= p.until; ++t) spent += curve.points()[static_cast<std::size_t>(t) - 1].cost;
  if (!(spent > 0.0)) return std::nullopt;
  return std::log(spent / p.expected_cost) / *log_sd;
}

}  // namespace

Calibration calibration(const StudySpec& spec, const std::vector<StoredEvent>& events, const KnownCurve& known) {
  History history(spec);
  std::vector<StoredPrediction> predictions;
  for (const StoredEvent& stored : events) {
    history.apply(stored.event);
    if (const auto* start = std::get_if<TrialStarted>(&stored.event)) {
      predictions.push_back({start->trial, 0, start->until, start->expected_cost, start->why});
    } else if (const auto* resume = std::get_if<TrialResumed>(&stored.event)) {
      const Epoch from = history.trial(resume->trial).from;
      predictions.push_back({resume->trial, from, resume->until, resume->expected_cost, resume->why});
    }
  }
  std::vector<double> value_errors;
  std::vector<double> cost_errors;
  for (const StoredPrediction& p : predictions) {
    if (const std::optional<double> error = value_error(p, history, known)) value_errors.push_back(*error);
    if (const std::optional<double> error = cost_error(p, history)) cost_errors.push_back(*error);
  }
  return {.value = coverage_of(value_errors), .cost = coverage_of(cost_errors)};
}

}  // namespace bapi
