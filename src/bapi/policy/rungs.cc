#include "bapi/policy/rungs.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <vector>

#include "bapi/gp/response.h"

namespace bapi {
namespace {

// The value of this rank, from 0 for the smallest.
double ranked(std::vector<double> values, std::ptrdiff_t rank) {
  std::nth_element(values.begin(), values.begin() + rank, values.end());
  return values[static_cast<std::size_t>(rank)];
}

Vector values_up_to(const Trial& trial, Epoch epoch) {
  const std::span<const Measurement> points = trial.curve.up_to(epoch);
  Vector values(std::ssize(points));
  for (std::size_t i = 0; i < points.size(); ++i) values[static_cast<Eigen::Index>(i)] = points[i].value;
  return values;
}

// Deviation of a value about the course of its curve, of the median curve; of the wilder of two, because a few values
// of one curve easily look too calm.
std::optional<double> typical_deviation(const std::vector<Vector>& curves) {
  std::vector<double> variances;
  for (const Vector& curve : curves) {
    if (const std::optional<double> variance = fluctuation(curve)) variances.push_back(*variance);
  }
  if (variances.empty()) return std::nullopt;
  const std::ptrdiff_t upper_median = std::ssize(variances) / 2;
  return std::sqrt(ranked(std::move(variances), upper_median));
}

// The largest of n values is expected sqrt(2 log n) deviations above the median by chance alone.
bool has_leader(const std::vector<Vector>& curves, double deviation) {
  std::vector<double> last;
  for (const Vector& curve : curves) last.push_back(curve[curve.size() - 1]);
  const double chance = 1.5 + std::sqrt(2.0 * std::log(static_cast<double>(last.size())));
  const double best = *std::max_element(last.begin(), last.end());
  const std::ptrdiff_t lower_median = (std::ssize(last) - 1) / 2;
  return best - ranked(std::move(last), lower_median) > chance * deviation;
}

// The mean of the later half is above that of the earlier half by more than three of its errors.
bool has_risen(const Vector& curve, double deviation) {
  const Eigen::Index half = curve.size() / 2;
  if (half == 0) return false;
  const double rise = curve.tail(half).mean() - curve.head(half).mean();
  return rise > 3.0 * deviation * std::sqrt(2.0 / static_cast<double>(half));
}

// The lead that the best trial won after `epoch` is so many times as large as the lead of the best there.
constexpr double kLeadWonLater = 3.0;

// Trials that have got twice as far as `epoch` have come apart since then, by several times the differences at `epoch`:
// what decides had not begun there. The lead won later is the gain of the best of them less the smallest gain. Bad
// values do not count: the lead at `epoch` is that of the best over the lower quartile.
bool comes_apart_later(const History& history, Epoch epoch) {
  const Epoch far = std::min(2 * epoch, history.spec().epochs.max);
  if (far <= epoch) return false;
  std::vector<double> there;
  std::vector<double> gains;
  double best = -std::numeric_limits<double>::infinity();
  double gain_of_best = 0.0;
  for (const Trial& trial : history.trials()) {
    if (!has_reached(trial, epoch)) continue;
    const double value = trial.curve.best_by(epoch);
    if (!std::isfinite(value)) continue;
    there.push_back(value);
    if (!has_reached(trial, far)) continue;
    gains.push_back(trial.curve.best() - value);
    if (trial.curve.best() <= best) continue;
    best = trial.curve.best();
    gain_of_best = gains.back();
  }
  if (gains.size() < 2) return false;
  const double won_later = gain_of_best - *std::min_element(gains.begin(), gains.end());
  const double leader = *std::max_element(there.begin(), there.end());
  const std::ptrdiff_t lower_quartile = (std::ssize(there) - 1) / 4;
  return won_later > kLeadWonLater * (leader - ranked(std::move(there), lower_quartile));
}

}  // namespace

bool has_reached(const Trial& trial, Epoch epoch) {
  return trial.curve.last_epoch() >= epoch || trial.state == TrialState::completed;
}

double value_at(const Trial& trial, Epoch epoch) { return trial.curve.value_by(epoch); }

Epoch share_of(double share, Epoch max_epoch) {
  return std::clamp(static_cast<Epoch>(std::ceil(share * max_epoch - 1e-9)), 1, max_epoch);
}

Epoch next_rung(Epoch done, Epoch first, double ratio, Epoch max_epoch) {
  if (done < first) return first;
  return std::min(max_epoch, std::max(done + 1, static_cast<Epoch>(std::llround(ratio * done))));
}

bool tells_apart(const History& history, Epoch epoch) {
  if (comes_apart_later(history, epoch)) return false;
  std::vector<Vector> curves;
  for (const Trial& trial : history.trials()) {
    if (!trial.curve.empty() && trial.curve.last_epoch() >= epoch) curves.push_back(values_up_to(trial, epoch));
  }
  if (curves.size() < 2) return true;
  const std::optional<double> deviation = typical_deviation(curves);
  if (!deviation || has_leader(curves, *deviation)) return true;
  return std::any_of(curves.begin(), curves.end(), [&](const Vector& curve) { return has_risen(curve, *deviation); });
}

Decision nothing_to_do(const History& history, std::string reason) {
  if (history.open_segments() > 0) return Wait{};
  return Finish{std::move(reason)};
}

}  // namespace bapi
