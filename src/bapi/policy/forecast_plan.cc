#include "bapi/policy/forecast_plan.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "bapi/base/error.h"
#include "bapi/math/cholesky.h"
#include "bapi/math/normal.h"

namespace bapi {
namespace {

// Candidates that a plan is made of: those of largest expected gain per cost alone.
constexpr std::size_t kMostCandidates = 250;

// A plan does not go on for less than this share of the range of values.
constexpr double kLeastGain = 1e-7;

std::vector<std::size_t> descending(const Vector& values) {
  std::vector<std::size_t> order(static_cast<std::size_t>(values.size()));
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return values[static_cast<Eigen::Index>(a)] > values[static_cast<Eigen::Index>(b)];
  });
  return order;
}

// Standard normals, one column for each row of the model: correlated as what will be measured there is. Every column
// has the same values, in another order, so that each has the law that it should have, to the last digit.
Matrix dependent_normals(const Models& models, const Rows& rows, const Vector& latent_sd, const Rng& rng) {
  const Eigen::Index m = rows.size();
  const double noise = models.surrogate->noise();
  Matrix correlation = models.surrogate->predict_joint(rows).covariance;
  const Vector scale = correlation.diagonal().cwiseMax(1e-300).cwiseSqrt().cwiseInverse();
  correlation = scale.asDiagonal() * correlation * scale.asDiagonal();
  // Only the course is common, not what measuring adds to it.
  const Vector common = (latent_sd.array().square() / (latent_sd.array().square() + noise)).sqrt().matrix();
  correlation = common.asDiagonal() * correlation * common.asDiagonal();
  correlation.diagonal().setOnes();
  const std::optional<Cholesky> factor = Cholesky::factor(correlation);
  check(factor.has_value(), "forecast plan: a covariance is not positive definite");
  Matrix base(m, kFutures);
  for (Eigen::Index i = 0; i < m; ++i) {
    Rng own = rng.fork("training", static_cast<std::uint64_t>(i));  // whatever follows
    for (Eigen::Index k = 0; k < kFutures; ++k) base(i, k) = own.normal();
  }
  Matrix normals = (factor->lower() * base).transpose();
  for (Eigen::Index i = 0; i < m; ++i) {
    const std::vector<std::size_t> order = descending(normals.col(i));
    for (std::size_t k = 0; k < order.size(); ++k) {
      normals(static_cast<Eigen::Index>(order[k]), i) =
          -normal_quantile((static_cast<double>(k) + 0.5) / static_cast<double>(kFutures));
    }
  }
  return normals;
}

Rows rows_of(const std::vector<CurveAt>& curves, const std::vector<Epoch>& epochs, Epoch max_epoch) {
  Matrix x(std::ssize(curves), curves.front().x.size());
  std::vector<CurveId> groups;
  for (std::size_t i = 0; i < curves.size(); ++i) {
    x.row(static_cast<Eigen::Index>(i)) = curves[i].x.transpose();
    groups.push_back(curves[i].group);
  }
  return Rows::at_epochs(std::move(x), epochs, max_epoch, std::move(groups));
}

// Greedy choice among candidates at their last epochs.
class GreedyPlan {
 public:
  GreedyPlan(const Planning& planning, const std::vector<Candidate>& candidates, const Rng& rng)
      : planning_(planning), models_(planning.models()), best_(models_.scale.undo(models_.best)) {
    std::vector<CurveAt> all;
    for (const Candidate& candidate : candidates) all.push_back(candidate.at());
    keep_most_promising(all);
    if (kept_.empty()) return;
    const std::vector<Epoch> last(curves_.size(), models_.max_epoch);
    const Expectations expected = models_.expected(curves_, last);
    const Matrix z = dependent_normals(models_, rows_of(curves_, last, models_.max_epoch), expected.latent_sd, rng);
    normals_ = z;
    results_.resize(z.rows(), z.cols());
    for (std::size_t i = 0; i < curves_.size(); ++i) {
      const auto column = static_cast<Eigen::Index>(i);
      const Prognosis law = law_of(models_, expected, column, curves_[i], models_.max_epoch);
      for (Eigen::Index k = 0; k < z.rows(); ++k) results_(k, column) = law.value(0, z(k, column));
    }
  }

  // The order of the trainings does not depend on the budget, which only says how far it is followed: with a larger one
  // nothing is left out that a smaller one pays for.
  std::vector<PlannedForecast> within(Cost budget, int length) {
    std::vector<PlannedForecast> runs;
    Vector best = Vector::Constant(kFutures, best_);
    std::vector<bool> taken(curves_.size(), false);
    while (std::ssize(runs) < length && std::ssize(runs) < std::ssize(curves_)) {
      const std::size_t i = descending(gains_per_cost(best, taken)).front();
      if (taken[i] || !(gain(best, i) > least_gain())) break;
      std::optional<PlannedForecast> next = paid_by(budget, i);
      if (!next) break;
      taken[i] = true;
      const Vector z = normals_.col(static_cast<Eigen::Index>(i));
      for (Eigen::Index k = 0; k < best.size(); ++k) best[k] = std::max(best[k], next->law.value(0, z[k]));
      budget -= next->cost;
      runs.push_back(*std::move(next));
    }
    return runs;
  }

 private:
  void keep_most_promising(const std::vector<CurveAt>& all) {
    if (all.empty()) return;
    const std::vector<Epoch> last(all.size(), models_.max_epoch);
    const Expectations expected = models_.expected(all, last);
    Vector promise(std::ssize(all));
    Vector cost(std::ssize(all));
    for (std::size_t i = 0; i < all.size(); ++i) {
      const auto at = static_cast<Eigen::Index>(i);
      cost[at] = planning_.cost_to(all[i], models_.max_epoch);
      const Prognosis law = law_of(models_, expected, at, all[i], models_.max_epoch);
      promise[at] = law.expected_gain(0, best_) * success_of(all[i]) / cost[at];
    }
    for (const std::size_t i : descending(promise)) {
      if (kept_.size() >= kMostCandidates) break;
      kept_.push_back(i);
      curves_.push_back(all[i]);
      costs_.push_back(cost[static_cast<Eigen::Index>(i)]);
      success_.push_back(success_of(all[i]));
    }
  }

  double success_of(const CurveAt& at) const { return planning_.evidence().failures().success(at.x); }

  double gain(const Vector& best, std::size_t i) const {
    return success_[i] * (results_.col(static_cast<Eigen::Index>(i)) - best).cwiseMax(0.0).mean();
  }

  Vector gains_per_cost(const Vector& best, const std::vector<bool>& taken) const {
    Vector gains(std::ssize(curves_));
    for (std::size_t i = 0; i < curves_.size(); ++i) {
      gains[static_cast<Eigen::Index>(i)] = taken[i] ? -1.0 : gain(best, i) / costs_[i];
    }
    return gains;
  }

  double least_gain() const { return kLeastGain * std::abs(models_.scale.slope(models_.best)) * models_.range; }

  // The training to where its forecast is flat, or as far as the budget pays; nothing if that is not one epoch.
  std::optional<PlannedForecast> paid_by(Cost budget, std::size_t i) const {
    const CurveAt& at = curves_[i];
    const Epoch least = std::max(at.done + 1, planning_.evidence().epochs().min);
    Epoch until = std::max(least, planning_.stop_of(at));
    while (planning_.cost_to(at, until) > budget) {
      if (--until < least) return std::nullopt;
    }
    return PlannedForecast{.at = at,
                           .candidate = kept_[i],
                           .until = until,
                           .cost = planning_.cost_to(at, until),
                           .law = models_.law_from(at, until)};
  }

  const Planning& planning_;
  const Models& models_;
  double best_;
  std::vector<std::size_t> kept_;  // places in the list of candidates
  std::vector<CurveAt> curves_;
  std::vector<Cost> costs_;  // to the last epoch
  std::vector<double> success_;
  Matrix normals_;
  Matrix results_;  // at the last epoch
};

}  // namespace

Matrix joint_results(const Models& models, const std::vector<PlannedForecast>& runs, const Rng& rng) {
  if (runs.empty()) return Matrix(kFutures, 0);
  std::vector<CurveAt> curves;
  for (const PlannedForecast& run : runs) curves.push_back(run.at);
  const std::vector<Epoch> last(curves.size(), models.max_epoch);
  const Vector latent_sd = models.expected(curves, last).latent_sd;
  Matrix results = dependent_normals(models, rows_of(curves, last, models.max_epoch), latent_sd, rng);
  for (std::size_t i = 0; i < runs.size(); ++i) {
    const auto column = static_cast<Eigen::Index>(i);
    for (Eigen::Index k = 0; k < results.rows(); ++k) results(k, column) = runs[i].law.value(0, results(k, column));
  }
  return results;
}

std::vector<PlannedForecast> plan_by_forecasts(
    const Planning& planning, const std::vector<Candidate>& candidates, Cost budget, int length, const Rng& rng) {
  return GreedyPlan(planning, candidates, rng).within(budget, length);
}

}  // namespace bapi
