#include "bapi/policy/evidence.h"

#include <algorithm>
#include <optional>

#include "bapi/study/direction.h"
#include "bapi/study/metric_bounds.h"

namespace bapi {
namespace {

CurveFate fate_of(const Trial& trial) {
  if (trial.state == TrialState::failed) return CurveFate::failed;
  if (trial.state == TrialState::completed) return CurveFate::ended;
  return trial.segment ? CurveFate::running : CurveFate::open;
}

LearningCurve learning_curve(const Trial& trial, const Vector& x) {
  LearningCurve curve{.id = curve_of(trial.id), .x = x, .fate = fate_of(trial), .cost = trial.curve.spent()};
  for (const Measurement& m : trial.curve.points()) curve.values.push_back(m.value);
  curve.gaps = trial.curve.gaps();
  if (const Measurement* first = trial.curve.find(1)) curve.first_epoch_cost = first->cost;
  if (curve.gaps.empty()) {
    const auto& points = trial.curve.points();
    for (std::size_t i = 0; i < points.size() / 2; ++i) curve.half_cost += points[i].cost;
  }
  return curve;
}

// What a trial says about failures; nothing if it has only begun. One that ended by itself has nothing left to fear.
std::optional<TrainingOutcome> training_outcome(const Trial& trial, const Vector& x, Epoch max_epoch) {
  const Epoch last = trial.curve.last_epoch();
  if (trial.state == TrialState::failed) return TrainingOutcome{.x = x, .failed = true, .epoch = last + 1};
  if (trial.curve.empty()) return std::nullopt;
  return TrainingOutcome{.x = x, .epoch = trial.state == TrialState::completed ? max_epoch : last};
}

bool finished(const LearningCurve& curve) { return curve.fate == CurveFate::ended && !curve.values.empty(); }

}  // namespace

Evidence::Evidence(const History& history) : history_(history) {
  std::vector<TrainingOutcome> outcomes;
  for (const Trial& trial : history.trials()) {
    x_.push_back(history.spec().space.encode(trial.config));
    if (!trial.curve.empty() && !trial.assignment.repeat) curves_.push_back(learning_curve(trial, x_.back()));
    if (trial.segment) running_.push_back({.at = at(trial), .until = trial.segment->until});
    if (std::optional<TrainingOutcome> outcome = training_outcome(trial, x_.back(), epochs().max)) {
      outcomes.push_back(*std::move(outcome));
    }
  }
  failures_ = FailureModel(outcomes);
}

CurveAt Evidence::at(const Trial& trial) const {
  return {.x = x_[static_cast<std::size_t>(index(trial.id))],
          .group = curve_of(trial.id),
          .done = trial.curve.last_epoch()};
}

ScoreBounds Evidence::bounds() const {
  const Metric& metric = spec().metric;
  std::vector<double> values;
  for (const LearningCurve& curve : curves_) {
    for (const double value : curve.values) values.push_back(oriented(value, metric.goal));
  }
  const MetricBounds bounds = bounds_of(metric, values);
  const double a = oriented(bounds.low, metric.goal);
  const double b = oriented(bounds.high, metric.goal);
  return {.low = std::min(a, b), .high = std::max(a, b)};
}

Outcomes Evidence::outcomes() const {
  std::vector<const LearningCurve*> known;
  for (const LearningCurve& curve : curves_) {
    if (finished(curve)) known.push_back(&curve);
  }
  Outcomes all{.x = Matrix(std::ssize(known), spec().space.encoded_dim()), .values = Vector(std::ssize(known))};
  for (std::size_t i = 0; i < known.size(); ++i) {
    const auto row = static_cast<Eigen::Index>(i);
    all.x.row(row) = known[i]->x.transpose();
    all.values[row] = history_.trial(TrialId{known[i]->id}).curve.best();
  }
  return all;
}

}  // namespace bapi
