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

Models models_of(const Evidence& evidence, const BapiOptions& options, const Rng& rng) {
  require(evidence.history().incumbent().has_value(),
          "no trial has reported a value yet: there is nothing to predict from");
  Rng stream = rng.fork("models");
  return fit_models(evidence, options.model, stream);
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
      evidence_(history),
      models_(models_of(evidence_, options, rng_)),
      planning_(evidence_, models_, options.plan) {}

Prediction Insight::in_user_units(double mean, double sd) const {
  const double a = models_.to_user(history_, mean - kNinetyPercentQuantile * sd);
  const double b = models_.to_user(history_, mean + kNinetyPercentQuantile * sd);
  return {.mean = models_.to_user(history_, mean), .low = std::min(a, b), .high = std::max(a, b)};
}

CurveForecast Insight::forecast(const Trial& trial) const {
  const Epoch max_epoch = history_.spec().epochs.max;
  const CurveAt at = evidence_.at(trial);
  const std::unique_ptr<CurveContinuation> posterior = planning_.curve(at);
  CurveForecast forecast{.trial = trial.id, .done = trial.curve.last_epoch()};
  forecast.epochs.resize(static_cast<std::size_t>(max_epoch));
  std::iota(forecast.epochs.begin(), forecast.epochs.end(), 1);
  const Moments moments = posterior->predict(Rows::of_curve(at.x, forecast.epochs, max_epoch, at.group));
  for (Eigen::Index i = 0; i < moments.mean.size(); ++i) {
    forecast.curve.push_back(in_user_units(moments.mean[i], std::sqrt(moments.variance[i])));
  }
  forecast.stop = conservative_stop(*posterior, at.x, at.group, planning_.stop_rule(forecast.done));
  forecast.cost_to_finish = forecast.done < max_epoch ? planning_.cost_to(at, max_epoch) : 0.0;
  const Eigen::Index last = moments.mean.size() - 1;
  const double sd = std::sqrt(moments.variance[last]);
  if (sd > 0.0) forecast.chance_of_best = normal_cdf((moments.mean[last] - models_.best) / sd);
  return forecast;
}

double PlanSummary::chance_of_gain(double gain) const {
  if (gains.empty()) return 0.0;
  const auto above = gains.end() - std::upper_bound(gains.begin(), gains.end(), gain);
  return static_cast<double>(above) / static_cast<double>(gains.size());
}

void Insight::look_ahead(const Horizon& horizon, PlanSummary& summary) const {
  const double now = models_.to_user(history_, models_.best);
  std::vector<Outlook>& outlook = summary.outlook;
  outlook = {{.cost = 0.0, .best = {.mean = now, .low = now, .high = now}}};
  if (horizon.empty()) return;
  constexpr int kDraws = 1024;
  constexpr double kFewDraws = kDraws / 4.0;
  Rng stream = rng_.fork("outlook");
  const GaussianCurves curves = models_.surrogate->gaussian();
  JointDraws draws(curves.gp,
                   curves.slopes,
                   BaseSamples::draw(kDraws, static_cast<int>(horizon.runs.size()), curves.slopes.size(), stream));
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
    if (outlook.size() <= horizon.runs.size()) return;
    for (int i = 0; i < kGainQuantiles; ++i) {
      const double value = weighted_quantile(order, best, weights, (i + 0.5) / kGainQuantiles);
      summary.gains.push_back(std::abs(models_.to_user(history_, std::max(value, models_.best)) - now));
    }
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
    draws.append(draws.extend({curves.slopes.rows_and_value(run.x, run.group, run.until)}).front());
    best = best.cwiseMax(draws.values().rightCols(1)).eval();
    untold.push_back(best);
    if (effective_size(draws.log_weights()) >= kFewDraws) continue;
    tell_all();
    const Vector before = best;
    const std::vector<Eigen::Index> source = draws.resample();
    for (std::size_t k = 0; k < source.size(); ++k) best[static_cast<Eigen::Index>(k)] = before[source[k]];
  }
  tell_all();
}

PlanSummary Insight::plan(Cost budget, int length) const {
  const std::vector<Candidate> candidates = planning_.candidates();
  PlanOptions options = options_.plan;
  options.horizon = length;
  Rng stream = rng_.fork("plan");
  const Horizon horizon = Planning(evidence_, models_, options).plan(candidates, budget, stream);
  PlanSummary summary{.budget = budget, .left = budget};
  look_ahead(horizon, summary);
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

}  // namespace bapi
