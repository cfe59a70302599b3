#include "bapi/policy/evidence.h"

#include <algorithm>
#include <limits>

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
  if (!trial.curve.empty()) curve.first_epoch_cost = trial.curve.points().front().cost;
  return curve;
}

bool finished(const LearningCurve& curve) { return curve.fate == CurveFate::ended && !curve.values.empty(); }

}  // namespace

Evidence::Evidence(const History& history) : history_(history) {
  for (const Trial& trial : history.trials()) {
    x_.push_back(history.spec().space.encode(trial.config));
    if (!trial.curve.empty() || trial.state == TrialState::failed) curves_.push_back(learning_curve(trial, x_.back()));
    if (trial.segment) running_.push_back({.at = at(trial), .until = trial.segment->until});
  }
}

CurveAt Evidence::at(const Trial& trial) const {
  return {.x = x_[static_cast<std::size_t>(index(trial.id))],
          .group = curve_of(trial.id),
          .done = trial.curve.last_epoch()};
}

Outcomes Evidence::outcomes() const {
  std::vector<const LearningCurve*> known;
  double worst = std::numeric_limits<double>::infinity();
  for (const LearningCurve& curve : curves_) {
    if (finished(curve)) worst = std::min(worst, curve.best());
    if (finished(curve) || curve.fate == CurveFate::failed) known.push_back(&curve);
  }
  Outcomes all{.x = Matrix(std::ssize(known), spec().space.encoded_dim()), .values = Vector(std::ssize(known))};
  for (std::size_t i = 0; i < known.size(); ++i) {
    const auto row = static_cast<Eigen::Index>(i);
    all.x.row(row) = known[i]->x.transpose();
    all.values[row] = finished(*known[i]) ? known[i]->best() : worst;
  }
  return all;
}

}  // namespace bapi
