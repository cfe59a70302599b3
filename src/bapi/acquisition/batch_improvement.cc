#include "bapi/acquisition/batch_improvement.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <utility>

#include "bapi/acquisition/improvement.h"
#include "bapi/base/error.h"
#include "bapi/math/normal.h"
#include "bapi/math/truncated_normal.h"

namespace bapi {

namespace {

double sigmoid(double t) { return t >= 0.0 ? 1.0 / (1.0 + std::exp(-t)) : std::exp(t) / (1.0 + std::exp(t)); }

// What one draw f of a value is worth by itself, with its derivatives in f and in the centre of the upper bound.
struct DrawnWorth {
  double value;
  double slope;
  double centre_slope = 0.0;
};

DrawnWorth drawn_worth(BatchScore score, double f, double centre, double best) {
  switch (score) {
    case BatchScore::improvement:
      break;
    case BatchScore::upper_bound: {
      const double width = std::sqrt(kUpperBoundBeta * std::numbers::pi / 2.0);
      const double slope = f >= centre ? width : -width;
      return {.value = centre + width * std::abs(f - centre), .slope = slope, .centre_slope = 1.0 - slope};
    }
    case BatchScore::probability: {
      const double share = sigmoid((f - best) / kProbabilityTemperature);
      return {.value = share, .slope = share * (1.0 - share) / kProbabilityTemperature};
    }
  }
  return {.value = f, .slope = 1.0};
}

// Below this, in standard deviations, phi(z) + z Phi(z) loses more than three digits to cancellation.
constexpr double kFarBelow = -20.0;

// Candidates are scored in blocks of this many: large enough for blocked solves, small enough for the cache.
constexpr std::size_t kBlock = 64;

std::vector<Rows> block_of(const std::vector<Rows>& all, std::size_t first) {
  const std::size_t last = std::min(first + kBlock, all.size());
  return {all.begin() + static_cast<std::ptrdiff_t>(first), all.begin() + static_cast<std::ptrdiff_t>(last)};
}

}  // namespace

void BatchOptions::validate() const {
  require(resample_share >= 0.0 && resample_share <= 1.0,
          fmt::format("acquisition.resample_share = {}, must be in [0, 1]", resample_share));
}

struct BatchImprovement::Seen {
  Vector mean;     // N, given the draw
  double sd;       // given the draw
  Vector weights;  // N, sum 1
  Vector log_weights;
  double expectation;  // given the data alone
};

BatchImprovement::Seen BatchImprovement::seen(const DrawExtension& at) {
  return {
      at.mean, at.sd, normalised_weights(at.log_weights), at.log_weights, at.expectation[at.expectation.size() - 1]};
}

BatchImprovement::Seen BatchImprovement::seen(const PreparedValues& values, const ValueExtension& at, Eigen::Index i) {
  return {at.mean.col(i), at.sd[i], normalised_weights(at.log_weights), at.log_weights, values.expectation[i]};
}

// value_j with its derivatives: value_j depends on x through the draw's mean and sd, and for q-UCB through the centre.
struct BatchImprovement::PerDraw {
  Vector value;
  Vector mean_slope;
  Vector sd_slope;
  Vector centre_slope;
  double centre = 0.0;
};

BatchImprovement::BatchImprovement(JointDraws draws, double best, const BatchOptions& options)
    : draws_(std::move(draws)), best_(best), options_(options), least_effective_draws_(draws_.draws()) {
  options_.validate();
  switch (options_.score) {
    case BatchScore::improvement:
      reached_ = Vector::Constant(draws_.draws(), best);
      break;
    case BatchScore::upper_bound:
      reached_ = Vector::Constant(draws_.draws(), -std::numeric_limits<double>::infinity());
      break;
    case BatchScore::probability:
      reached_ = Vector::Zero(draws_.draws());
      break;
  }
}

double BatchImprovement::before(Eigen::Index draw) const {
  return options_.counting == Counting::total ? reached_[draw] - best_ : 0.0;
}

// Centre of the upper bound: the posterior mean, constrained where there is a constraint.
double BatchImprovement::centre_of(const Seen& at) const {
  return draws_.slopes().size() == 0 ? at.expectation : at.weights.dot(at.mean);
}

BatchImprovement::PerDraw BatchImprovement::per_draw(const Seen& at) const {
  const Eigen::Index n = at.mean.size();
  PerDraw result{Vector(n), Vector::Zero(n), Vector::Zero(n), Vector::Zero(n), 0.0};
  if (options_.score == BatchScore::improvement) {
    for (Eigen::Index j = 0; j < n; ++j) {
      const double z = (at.mean[j] - reached_[j]) / at.sd;
      const auto [pdf, cdf] = normal_pdf_and_cdf(z);
      const double gain =
          z < kFarBelow ? expected_improvement(at.mean[j], at.sd, reached_[j]) : at.sd * (pdf + z * cdf);
      result.value[j] = before(j) + gain;
      result.mean_slope[j] = cdf;
      result.sd_slope[j] = pdf;
    }
    return result;
  }
  const auto normals = draws_.base().normals.col(draws_.points()).head(n);
  if (options_.score == BatchScore::upper_bound) result.centre = centre_of(at);
  for (Eigen::Index j = 0; j < n; ++j) {
    const DrawnWorth own = drawn_worth(options_.score, at.mean[j] + at.sd * normals[j], result.centre, best_);
    const bool acts = own.value > reached_[j];
    result.value[j] = acts ? own.value : reached_[j];
    if (!acts) continue;
    result.mean_slope[j] = own.slope;
    result.sd_slope[j] = own.slope * normals[j];
    result.centre_slope[j] = own.centre_slope;
  }
  return result;
}

double BatchImprovement::score_of(const Seen& at) const { return at.weights.dot(per_draw(at).value); }

double BatchImprovement::log_score_of(const Seen& at) const {
  const double score = score_of(at);
  if (score > 1e-200) return std::log(score);
  // Underflow: the same average in log space.
  Vector logs(at.mean.size());
  for (Eigen::Index j = 0; j < logs.size(); ++j) {
    logs[j] = before(j) > 0.0 ? std::log(before(j)) : log_expected_improvement(at.mean[j], at.sd, reached_[j]);
  }
  return log_mean_exp(logs + at.log_weights) - log_mean_exp(at.log_weights);
}

Vector BatchImprovement::scores(const std::vector<Rows>& candidates, int draws) const {
  Vector result(static_cast<Eigen::Index>(candidates.size()));
  Eigen::Index i = 0;
  for (std::size_t first = 0; first < candidates.size(); first += kBlock) {
    for (const DrawExtension& at : draws_.extend(block_of(candidates, first), draws)) result[i++] = score_of(seen(at));
  }
  return result;
}

Vector BatchImprovement::log_scores(const std::vector<Rows>& candidates, int draws) const {
  Vector result(static_cast<Eigen::Index>(candidates.size()));
  Eigen::Index i = 0;
  for (std::size_t first = 0; first < candidates.size(); first += kBlock) {
    for (const DrawExtension& at : draws_.extend(block_of(candidates, first), draws))
      result[i++] = log_score_of(seen(at));
  }
  return result;
}

BatchImprovement::Gradients BatchImprovement::score_gradients(const std::vector<Rows>& candidates, int draws) const {
  const std::vector<DrawExtension> extensions = draws_.extend(candidates, draws);
  const std::vector<DrawGradient> gradients = draws_.gradients(extensions);
  Gradients result{Vector(static_cast<Eigen::Index>(candidates.size())),
                   Matrix(draws_.gp().rows().dim(), static_cast<Eigen::Index>(candidates.size()))};
  for (std::size_t i = 0; i < extensions.size(); ++i) {
    const auto column = static_cast<Eigen::Index>(i);
    const DrawExtension& at = extensions[i];
    const DrawGradient& slope = gradients[i];
    const Seen moments = seen(at);
    const Vector& weights = moments.weights;
    const PerDraw each = per_draw(moments);
    const double value = weights.dot(each.value);
    const Vector deviation = (each.value.array() - value) * weights.array();
    result.values[column] = value;
    result.gradients.col(column) = slope.mean.transpose() * weights.cwiseProduct(each.mean_slope) +
                                   weights.dot(each.sd_slope) * slope.sd + slope.log_weights.transpose() * deviation;
    if (options_.score == BatchScore::upper_bound) {
      // The centre moves too: the weighted mean of the draws' means.
      Vector dcentre = slope.mean.transpose() * weights;
      if (draws_.slopes().size() > 0) {
        const Vector off_centre = (at.mean.array() - each.centre) * weights.array();
        dcentre += slope.log_weights.transpose() * off_centre;
      } else {
        // Without a constraint it is the posterior mean, which every draw's mean contains once.
        const Rows value_row = at.rows;
        dcentre =
            draws_.gp().covariance().contracted_x_gradient(draws_.gp().rows(), value_row, draws_.gp().alpha()).col(0);
        if (draws_.gp().trend_weights().size() > 0) dcentre += draws_.gp().prior_mean_x_gradients(value_row).col(0);
      }
      result.gradients.col(column) += weights.dot(each.centre_slope) * dcentre;
    }
  }
  return result;
}

BatchImprovement::Prepared BatchImprovement::prepare(const std::vector<Rows>& candidates) const {
  Prepared blocks;
  for (std::size_t first = 0; first < candidates.size(); first += kBlock) {
    blocks.push_back(draws_.prepare(block_of(candidates, first)));
  }
  return blocks;
}

Vector BatchImprovement::objective(const Prepared& candidates, int draws) const {
  std::vector<double> values;
  for (const PreparedPoints& block : candidates) {
    for (const DrawExtension& at : draws_.extend(block, draws)) values.push_back(objective_of(seen(at)));
  }
  return Eigen::Map<const Vector>(values.data(), static_cast<Eigen::Index>(values.size()));
}

Vector BatchImprovement::objective(const std::vector<Rows>& candidates, int draws) const {
  return options_.score == BatchScore::improvement ? log_scores(candidates, draws) : scores(candidates, draws);
}

BatchImprovement::Gradients BatchImprovement::objective_gradients(const std::vector<Rows>& candidates,
                                                                  int draws) const {
  return in_units_of_objective(score_gradients(candidates, draws));
}

// As long as there is no point, all draws say the same of a value, and one of them is enough unless the value itself is
// drawn.
int BatchImprovement::draws_to_use(int draws) const {
  return draws_.points() == 0 && options_.score == BatchScore::improvement ? 1 : draws;
}

Vector BatchImprovement::objective(const PreparedValues& candidates, int draws) const {
  const ValueExtension extension = draws_.extend_values(candidates, draws_to_use(draws));
  Vector result(candidates.rows.size());
  for (Eigen::Index i = 0; i < result.size(); ++i) result[i] = objective_of(seen(candidates, extension, i));
  return result;
}

BatchImprovement::Gradients BatchImprovement::objective_gradients(const PreparedValues& candidates, int draws) const {
  const ValueExtension extension = draws_.extend_values(candidates, draws_to_use(draws));
  const Eigen::Index count = candidates.rows.size();
  Gradients result{Vector(count), {}};
  ValueSlopes slopes{Matrix(extension.mean.rows(), count), Vector(count), Vector::Zero(count)};
  for (Eigen::Index i = 0; i < count; ++i) {
    const Seen at = seen(candidates, extension, i);
    const PerDraw each = per_draw(at);
    result.values[i] = at.weights.dot(each.value);
    slopes.mean.col(i) = at.weights.cwiseProduct(each.mean_slope);
    slopes.sd[i] = at.weights.dot(each.sd_slope);
    // Where the score has a centre, it moves too.
    const double centre = at.weights.dot(each.centre_slope);
    if (draws_.slopes().size() > 0) {
      slopes.mean.col(i) += centre * at.weights;
    } else {
      slopes.expectation[i] = centre;
    }
  }
  result.gradients = draws_.contracted_gradients(candidates, extension, slopes);
  return in_units_of_objective(std::move(result));
}

double BatchImprovement::objective_of(const Seen& at) const {
  return options_.score == BatchScore::improvement ? log_score_of(at) : score_of(at);
}

BatchImprovement::Gradients BatchImprovement::in_units_of_objective(Gradients score) const {
  if (options_.score != BatchScore::improvement) return score;
  for (Eigen::Index i = 0; i < score.values.size(); ++i) {
    // A score that underflowed gives no direction; -inf tells the ascent to turn back.
    score.gradients.col(i) *= score.values[i] > 0.0 ? 1.0 / score.values[i] : 0.0;
    score.values[i] = std::log(score.values[i]);
  }
  return score;
}

double BatchImprovement::add(const Rows& point) {
  const DrawExtension next = draws_.extend({point}).front();
  const double score = score_of(seen(next));
  const Vector normals = draws_.base().normals.col(draws_.points());
  const Vector f = next.mean + next.sd * normals;
  const double centre = options_.score == BatchScore::upper_bound ? centre_of(seen(next)) : 0.0;
  for (Eigen::Index j = 0; j < f.size(); ++j) {
    reached_[j] = std::max(reached_[j], drawn_worth(options_.score, f[j], centre, best_).value);
  }
  draws_.append(next);
  const double effective = effective_size(draws_.log_weights());
  least_effective_draws_ = std::min(least_effective_draws_, effective);
  if (effective >= options_.resample_share * draws_.draws()) return score;
  const Vector before = reached_;
  const std::vector<Eigen::Index> source = draws_.resample();
  for (std::size_t i = 0; i < source.size(); ++i) reached_[static_cast<Eigen::Index>(i)] = before[source[i]];
  return score;
}

}  // namespace bapi
