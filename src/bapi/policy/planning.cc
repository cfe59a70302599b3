#include "bapi/policy/planning.h"

#include <algorithm>
#include <cmath>

#include "bapi/planner/epsilon.h"
#include "bapi/policy/new_configs.h"

namespace bapi {
namespace {

// The retained points of each curve, standardised.
std::vector<std::vector<CurvePoint>> retained_curves(const ExactGp& gp) {
  std::vector<std::vector<CurvePoint>> curves;
  const Rows& rows = gp.rows();
  for (std::size_t i = 0; i < rows.group.size(); ++i) {
    if (i == 0 || rows.group[i] != rows.group[i - 1]) curves.emplace_back();
    curves.back().push_back({.epoch = rows.epoch[i], .value = gp.y()[static_cast<Eigen::Index>(i)]});
  }
  return curves;
}

std::vector<PendingRun> pending_runs(const History& history, const Models& models, double epsilon) {
  std::vector<PendingRun> pending;
  for (const Trial& trial : history.trials()) {
    if (!trial.segment) continue;
    const Vector x = history.spec().space.encode(trial.config);
    const int group = static_cast<int>(index(trial.id));
    pending.push_back(
        {.x = x, .group = group, .until = stop_of(history, models, x, group, trial.segment->until, epsilon)});
  }
  return pending;
}

}  // namespace

double stop_tolerance(const History& history, const Models& models, const BapiOptions& options) {
  if (options.epsilon) return *options.epsilon * models.range;
  return automatic_epsilon(retained_curves(models.gp), history.spec().epochs.max);
}

Epoch block_of(const StudySpec& spec, const BapiOptions& options) {
  return std::max(1, static_cast<Epoch>(std::lround(options.p * spec.epochs.max)));
}

StopRule stop_rule(const History& history, Epoch trained, double epsilon) {
  return {.epsilon = epsilon,
          .min_epoch = std::max(history.spec().epochs.min, trained),
          .max_epoch = history.spec().epochs.max};
}

Epoch stop_of(const History& history, const Models& models, const Vector& x, int group, Epoch trained, double epsilon) {
  const MonotoneGp posterior(models.gp, Constraint::on_slopes(models.slopes, x, group));
  return conservative_stop(posterior, x, group, stop_rule(history, trained, epsilon));
}

Cost cost_to(const History& history, const Models& models, const Vector& x, Epoch done, Epoch until) {
  return models.cost.between(x, history.spec().checkpoint == Checkpoint::kept ? done : 0, until);
}

std::vector<Candidate> listed_candidates(const History& history) {
  std::vector<Candidate> candidates = paused_candidates(history);
  if (std::optional<std::vector<Candidate>> untried = untried_list(history)) {
    candidates.insert(
        candidates.end(), std::make_move_iterator(untried->begin()), std::make_move_iterator(untried->end()));
  }
  return candidates;
}

Horizon plan_study(const History& history,
                   const Models& models,
                   const std::vector<Candidate>& candidates,
                   const BapiOptions& options,
                   Cost budget,
                   Rng& rng) {
  const StudySpec& spec = history.spec();
  const double epsilon = stop_tolerance(history, models, options);
  HorizonProblem problem{
      .model = models.gp,
      .best = models.best,
      .min_epoch = spec.epochs.min,
      .max_epoch = spec.epochs.max,
      .epsilon = epsilon,
      .first_look = options.loop == BapiLoop::plan ? block_of(spec, options) : 0,
      .budget = budget,
      .cost = [&](const Vector& x, Epoch done, Epoch until) { return cost_to(history, models, x, done, until); },
      .candidates = {},
      .pending = pending_runs(history, models, epsilon),
      .new_configurations = can_be_listed(spec) ? NewConfigurations::none : NewConfigurations::from_cube,
      .decode = [&](const Vector& x) { return nearest_valid(spec.space, x); }};
  if (problem.new_configurations == NewConfigurations::from_cube) {
    for (const Trial& trial : history.trials()) problem.taken.push_back(spec.space.encode(trial.config));
  }
  for (const Candidate& c : candidates) {
    problem.candidates.push_back({.x = c.x, .group = c.group, .trained = c.done});
  }
  HorizonOptions horizon;
  horizon.length = options.horizon;
  horizon.acquisition.score = options.acquisition;
  horizon.slopes.monotone = options.model.monotone;
  return plan_horizon(problem, horizon, rng);
}

}  // namespace bapi
