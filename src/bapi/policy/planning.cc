#include "bapi/policy/planning.h"

#include <algorithm>
#include <cmath>

#include "bapi/planner/epsilon.h"
#include "bapi/policy/new_configs.h"

namespace bapi {
namespace {

// The retained points of each curve, standardised.
std::vector<std::vector<CurvePoint>> retained_curves(const Surrogate& model) {
  std::vector<std::vector<CurvePoint>> curves;
  const Rows& rows = model.rows();
  for (std::size_t i = 0; i < rows.group.size(); ++i) {
    if (i == 0 || rows.group[i] != rows.group[i - 1]) curves.emplace_back();
    curves.back().push_back({.epoch = rows.epoch[i], .value = model.y()[static_cast<Eigen::Index>(i)]});
  }
  return curves;
}

double stop_tolerance(const Models& models, std::optional<double> share, Epoch max_epoch) {
  if (share) return *share * models.range;
  return automatic_epsilon(retained_curves(*models.surrogate), max_epoch);
}

}  // namespace

Epoch block_of(const StudySpec& spec, double share) {
  return std::max(1, static_cast<Epoch>(std::lround(share * spec.epochs.max)));
}

Planning::Planning(const Evidence& evidence, const Models& models, const PlanOptions& options)
    : evidence_(evidence),
      models_(models),
      options_(options),
      epsilon_(stop_tolerance(models, options.epsilon, evidence.epochs().max)) {}

StopRule Planning::stop_rule(Epoch done) const {
  const CurveEpochs epochs = evidence_.epochs();
  return {.epsilon = epsilon_, .min_epoch = std::max(epochs.min, done), .max_epoch = epochs.max};
}

Epoch Planning::stop_of(const CurveAt& at) const {
  const StopRule rule = stop_rule(at.done);
  if (options_.stop == StopBy::constrained_mean) return conservative_stop(*curve(at), at.x, at.group, rule);
  const Epoch first = std::max(rule.min_epoch, at.done + 1);
  if (first > rule.max_epoch) return rule.max_epoch;
  const Vector ahead = models_.law_from(at, first).modelled_means();
  Vector means(rule.max_epoch - rule.min_epoch + 1);
  means.tail(ahead.size()) = ahead;
  if (ahead.size() < means.size()) means[0] = models_.floor_of(at.group, at.done).value_or(ahead[0]);
  return conservative_stop_by_scan(means, rule);
}

Cost Planning::cost_to(const CurveAt& at, Epoch until) const {
  return models_.cost.between(at.x, evidence_.spec().begins_after(at.done), until);
}

std::vector<Candidate> Planning::candidates() const {
  std::vector<Candidate> candidates = paused_candidates(evidence_);
  if (std::optional<std::vector<Candidate>> untried = untried_list(evidence_.history())) {
    candidates.insert(
        candidates.end(), std::make_move_iterator(untried->begin()), std::make_move_iterator(untried->end()));
  }
  return candidates;
}

std::vector<PendingRun> Planning::pending() const {
  std::vector<PendingRun> pending;
  for (const RunningCurve& run : evidence_.running()) {
    const CurveAt at_its_end{.x = run.at.x, .group = run.at.group, .done = run.until};
    pending.push_back({.x = run.at.x, .group = run.at.group, .until = stop_of(at_its_end)});
  }
  return pending;
}

Horizon Planning::plan(const std::vector<Candidate>& candidates, Cost budget, Rng& rng) const {
  const StudySpec& spec = evidence_.spec();
  const GaussianCurves gaussian = models_.surrogate->gaussian();
  HorizonProblem problem{.model = gaussian.gp,
                         .best = models_.best,
                         .min_epoch = spec.epochs.min,
                         .max_epoch = spec.epochs.max,
                         .epsilon = epsilon_,
                         .first_look = options_.first_look > 0.0 ? block_of(spec, options_.first_look) : 0,
                         .budget = budget,
                         .cost = [&](const Vector& x,
                                     Epoch done,
                                     Epoch until) { return cost_to({.x = x, .group = 0, .done = done}, until); },
                         .candidates = {},
                         .pending = pending(),
                         .new_points = can_be_listed(spec) ? NewPoints::none : NewPoints::from_cube,
                         .decode = [&](const Vector& x) { return nearest_valid(spec.space, x); },
                         .log_success = evidence_.failures().factor()};
  if (problem.new_points == NewPoints::from_cube) problem.taken = evidence_.x();
  for (const Candidate& candidate : candidates) problem.candidates.push_back(candidate.at());
  HorizonOptions horizon;
  horizon.length = options_.horizon;
  horizon.acquisition.score = options_.acquisition;
  return plan_horizon(problem, horizon, gaussian.slopes, rng);
}

}  // namespace bapi
