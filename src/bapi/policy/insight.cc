#include "bapi/policy/insight.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "bapi/base/error.h"
#include "bapi/policy/forecast_plan.h"
#include "bapi/policy/fresh.h"
#include "bapi/policy/new_configs.h"

namespace bapi {
namespace {

Models models_of(const Evidence& evidence, const BapiOptions& options, const Rng& rng) {
  require(evidence.history().incumbent().has_value(),
          "no trial has reported a value yet: there is nothing to predict from");
  Rng stream = rng.fork("models");
  return fit_models(evidence, options.model, stream);
}

// The value below which a share of equally likely ones lies.
double quantile(const std::vector<double>& ascending, double share) {
  const auto at = static_cast<std::size_t>(share * static_cast<double>(ascending.size()));
  return ascending[std::min(at, ascending.size() - 1)];
}

std::vector<double> sorted(const Vector& values) {
  std::vector<double> ascending(values.begin(), values.end());
  std::sort(ascending.begin(), ascending.end());
  return ascending;
}

// Points of a space that cannot be listed which a plan may begin with, besides those that a search finds.
constexpr int kUniformPoints = 256;

}  // namespace

Insight::Insight(const History& history, const BapiOptions& options)
    : history_(history),
      options_(options),
      rng_(Rng(history.spec().seed).fork("insight", static_cast<std::uint64_t>(history.decisions()))),
      evidence_(history),
      models_(models_of(evidence_, options, rng_)),
      planning_(evidence_, models_, options.plan) {}

// As it was reported, where the scale gives it back but for rounding.
double Insight::best_so_far() const {
  const double modelled = models_.scale.undo(models_.best);
  const double reported = history_.trial(*history_.incumbent()).curve.best();
  constexpr double kRounding = 1e-9;
  return std::abs(reported - modelled) <= kRounding * std::max(1.0, std::abs(reported)) ? reported : modelled;
}

Prediction Insight::in_user_units(double mean, double low, double high) const {
  const double a = history_.in_user_units(std::min(low, mean));
  const double b = history_.in_user_units(std::max(high, mean));
  return {.mean = history_.in_user_units(mean), .low = std::min(a, b), .high = std::max(a, b)};
}

Prediction Insight::prediction(const Prognosis& law, Eigen::Index i) const {
  return in_user_units(law.mean(i), law.quantile(i, 0.1), law.quantile(i, 0.9));
}

CurveForecast Insight::forecast(const Trial& trial) const {
  const Epoch max_epoch = history_.spec().epochs.max;
  const CurveAt at = evidence_.at(trial);
  CurveForecast forecast{.trial = trial.id, .done = trial.curve.last_epoch()};
  forecast.epochs.resize(static_cast<std::size_t>(max_epoch));
  std::iota(forecast.epochs.begin(), forecast.epochs.end(), 1);
  for (Epoch epoch = 1; epoch <= std::min(forecast.done, max_epoch); ++epoch) {
    const double known = trial.curve.best_by(epoch);
    forecast.curve.push_back(in_user_units(known, known, known));
  }
  forecast.stop = planning_.stop_of(at);
  const double reached = trial.curve.best();
  forecast.chance_of_best = 0.0;
  if (forecast.done >= max_epoch) return forecast;
  forecast.cost_to_finish = planning_.cost_to(at, max_epoch);
  if (trial.state == TrialState::completed) {  // it ended by itself: nothing more is to come
    while (std::ssize(forecast.curve) < max_epoch) forecast.curve.push_back(in_user_units(reached, reached, reached));
    return forecast;
  }
  const Prognosis law = models_.law_from(at, forecast.done + 1);
  const Vector mean = law.mean_course();
  const Vector low = law.quantile_course(0.1);
  const Vector high = law.quantile_course(0.9);
  for (Eigen::Index i = 0; i < law.size(); ++i) forecast.curve.push_back(in_user_units(mean[i], low[i], high[i]));
  forecast.chance_of_best = law.chance_above(law.last(), best_so_far());
  return forecast;
}

void Insight::look_ahead(const std::vector<PlannedForecast>& runs, PlanSummary& summary) const {
  const double now = best_so_far();
  summary.outlook = {{.cost = 0.0, .best = in_user_units(now, now, now)}};
  if (runs.empty()) return;
  const Matrix results = joint_results(models_, runs, rng_.fork("outlook"));
  Vector best = Vector::Constant(results.rows(), now);
  for (std::size_t i = 0; i < runs.size(); ++i) {
    best = best.cwiseMax(results.col(static_cast<Eigen::Index>(i))).eval();
    const std::vector<double> ascending = sorted(best);
    // The mean of the gains, not of the values: what never falls in any future does not fall by rounding either.
    const double mean = now + (best.array() - now).mean();
    summary.outlook.push_back({.cost = summary.outlook.back().cost + runs[i].cost,
                               .best = in_user_units(mean, quantile(ascending, 0.1), quantile(ascending, 0.9))});
  }
  const std::vector<double> ascending = sorted(best);
  for (int i = 0; i < kGainQuantiles; ++i) {
    summary.gains.push_back(quantile(ascending, (i + 0.5) / kGainQuantiles) - now);
  }
}

std::vector<Candidate> Insight::candidates() const {
  std::vector<Candidate> candidates = planning_.candidates();
  const StudySpec& spec = history_.spec();
  if (can_be_listed(spec)) return candidates;
  Rng search = rng_.fork("new configurations");
  std::vector<Candidate> fresh = new_configs(evidence_, *models_.surrogate, models_.best, search);
  Rng uniform = rng_.fork("uniform configurations");
  for (int i = 0; i < kUniformPoints; ++i) {
    Config config = spec.space.sample(uniform);
    const bool known = is_tried(history_, config) ||
                       std::any_of(fresh.begin(), fresh.end(), [&](const Candidate& c) { return c.config == config; });
    if (!known) fresh.push_back(new_candidate(history_, std::move(config), static_cast<int>(fresh.size())));
  }
  candidates.insert(candidates.end(), std::make_move_iterator(fresh.begin()), std::make_move_iterator(fresh.end()));
  return candidates;
}

// The paper's horizon, with the forecasts of its runs.
std::vector<PlannedForecast> Insight::paper_horizon(const std::vector<Candidate>& candidates,
                                                    Cost budget,
                                                    int length,
                                                    int& next) const {
  PlanOptions options = options_.plan;
  options.horizon = length;
  Rng stream = rng_.fork("plan");
  const Horizon horizon = Planning(evidence_, models_, options).plan(candidates, budget, stream);
  next = horizon.chosen;
  std::vector<PlannedForecast> runs;
  for (const PlannedRun& run : horizon.runs) {
    const CurveAt at{.x = run.x, .group = run.group, .done = run.from};
    runs.push_back({.at = at, .until = run.until, .cost = run.cost, .law = models_.law_from(at, run.until)});
    if (run.candidate >= 0) runs.back().candidate = static_cast<std::size_t>(run.candidate);
  }
  return runs;
}

PlanSummary Insight::plan(Cost budget, int length) const {
  int next = 0;
  std::vector<Candidate> all;
  std::vector<PlannedForecast> runs;
  if (options_.loop == BapiLoop::plan) {
    all = planning_.candidates();
    runs = paper_horizon(all, budget, length, next);
  } else {
    all = candidates();
    runs = plan_by_forecasts(planning_, all, budget, length, rng_.fork("plan"));
  }
  PlanSummary summary{.budget = budget, .left = budget};
  look_ahead(runs, summary);
  const double best = best_so_far();
  for (std::size_t i = 0; i < runs.size(); ++i) {
    const PlannedForecast& run = runs[i];
    const Candidate* candidate = run.candidate ? &all[*run.candidate] : nullptr;
    summary.left -= run.cost;
    summary.runs.push_back({.trial = candidate ? candidate->trial : std::nullopt,
                            .config = candidate ? candidate->config : history_.spec().space.decode(run.at.x),
                            .from = run.at.done,
                            .until = run.until,
                            .cost = run.cost,
                            .value = prediction(run.law, 0),
                            .improvement = run.law.expected_gain(0, best),
                            .next = static_cast<int>(i) == next});
  }
  return summary;
}

}  // namespace bapi
