#include "bapi/gp/slope_constraint.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "bapi/base/error.h"
#include "bapi/math/truncated_normal.h"

namespace bapi {

namespace {

Rows rows_at_taus(const Vector& x, CurveId group, const Vector& tau) {
  const auto n = static_cast<std::size_t>(tau.size());
  return Rows::at_taus(x.transpose().replicate(tau.size(), 1), tau, std::vector<CurveId>(n, group));
}

// Whole epochs whose distance is at most the wanted one where the epochs are fine enough for that.
std::vector<Epoch> evenly_spaced(Epoch first, Epoch last, double spacing, int max_rows) {
  const Epoch span = last - first;
  const Epoch step = std::max(1, static_cast<Epoch>(std::floor(spacing * last)));
  const int intervals = std::clamp((span + step - 1) / step, 1, max_rows - 1);
  std::vector<Epoch> epochs;
  for (int i = 0; i <= intervals; ++i) {
    const Epoch epoch = first + static_cast<Epoch>(static_cast<std::int64_t>(span) * i / intervals);
    if (epochs.empty() || epoch > epochs.back()) epochs.push_back(epoch);
  }
  return epochs;
}

// The rows in an order in which drawing one after the other keeps the weights even: under the prior the least likely
// first, the latest first among equals. The last epoch's slope is the one that binds.
std::vector<Epoch> ordered_for_draws(const ExactGp& gp, std::vector<Epoch> epochs, double relative_noise) {
  std::reverse(epochs.begin(), epochs.end());
  const Rows rows = Rows::of_curve(Vector::Zero(gp.rows().dim()), epochs, gp.rows().max_epoch, 0, Op::slope);
  Matrix covariance = gp.covariance().gram(rows);
  covariance.diagonal() *= 1.0 + relative_noise;
  const auto s = rows.size();
  std::vector<Epoch> ordered;
  for (const int i : variable_order({Vector::Zero(s), covariance, Vector::Zero(s), {}})) ordered.push_back(epochs[i]);
  return ordered;
}

}  // namespace

void SlopeOptions::validate() const {
  require(relative_noise > 0.0 && relative_noise <= 1.0,
          fmt::format("slopes.relative_noise = {}, must be in (0, 1]", relative_noise));
  require(spacing > 0.0, fmt::format("slopes.spacing = {}, must be positive", spacing));
  require(max_rows >= 2, fmt::format("slopes.max_rows = {}, must be at least 2", max_rows));
}

Rows SlopeConstraint::rows(const Vector& x, CurveId group) const {
  if (max_epoch > 0) return Rows::of_curve(x, epoch, max_epoch, group, Op::slope);
  Rows slopes = rows_at_taus(x, group, tau);
  std::fill(slopes.op.begin(), slopes.op.end(), Op::slope);
  return slopes;
}

Rows SlopeConstraint::rows_and_value(const Vector& x, CurveId group, Epoch epoch_of_value) const {
  check(max_epoch > 0, "slope constraint: it is not at whole epochs");
  std::vector<Epoch> epochs = epoch;
  epochs.push_back(epoch_of_value);
  Rows all = Rows::of_curve(x, epochs, max_epoch, group, Op::slope);
  all.op.back() = Op::value;
  return all;
}

Rows SlopeConstraint::rows_and_value_at_tau(const Vector& x, CurveId group, double tau_of_value) const {
  Vector taus(tau.size() + 1);
  taus << tau, tau_of_value;
  Rows all = rows_at_taus(x, group, taus);
  std::fill(all.op.begin(), all.op.end() - 1, Op::slope);
  return all;
}

SlopeConstraint slope_constraint(const ExactGp& gp, Epoch min_epoch, const SlopeOptions& options) {
  options.validate();
  const Epoch max_epoch = gp.rows().max_epoch;
  require(max_epoch > 0, "slope constraint: the data are not at whole epochs");
  SlopeConstraint constraint;
  constraint.max_epoch = max_epoch;
  if (options.monotone == Monotonicity::on) {
    const TimeKernel& time = gp.parameters().kernel.time;
    const double turning = time.form().turning_distance(time);
    if (std::isinf(turning)) {
      constraint.epoch = {0, max_epoch};
    } else if (turning > 0.0) {
      constraint.epoch = evenly_spaced(
          std::clamp(min_epoch, 0, max_epoch - 1), max_epoch, options.spacing * turning, options.max_rows);
    }
  }
  constraint.epoch = ordered_for_draws(gp, std::move(constraint.epoch), options.relative_noise);
  const auto s = static_cast<Eigen::Index>(constraint.epoch.size());
  constraint.tau.resize(s);
  for (Eigen::Index i = 0; i < s; ++i) constraint.tau[i] = static_cast<double>(constraint.epoch[i]) / max_epoch;
  const Vector anywhere = Vector::Zero(gp.rows().dim());
  constraint.noise = options.relative_noise * gp.covariance().variances(constraint.rows(anywhere, 0));
  return constraint;
}

}  // namespace bapi
