#include "bapi/model/boil_model.h"

#include <Eigen/QR>
#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "bapi/base/error.h"
#include "bapi/gp/response.h"
#include "bapi/math/maximize.h"

namespace bapi {
namespace {

constexpr double kNoise = 5e-4;

// Ranges of (space, time, middle, growth).
const Eigen::Vector4d kLow(0.03, 0.3, -2.0, 0.5);
const Eigen::Vector4d kHigh(0.3, 0.6, 3.0, 2.0);

constexpr int kFitIterations = 20;

// From shares of the ranges.
BoilParameters parameters_at(const Vector& u) {
  const Vector v = (kLow + (kHigh - kLow).cwiseProduct(u)).cwiseMax(kLow).cwiseMin(kHigh);
  return {.space = v[0], .time = v[1], .weights = {.middle = v[2], .growth = v[3]}};
}

GpParameters kernel_of(const BoilParameters& parameters, Eigen::Index dim) {
  GpParameters gp;
  gp.kernel.amplitude = 1.0;
  gp.kernel.space = {SpaceKind::rbf, Vector::Constant(dim, std::sqrt(0.5 * parameters.space))};
  gp.kernel.time = {.kind = TimeKind::rbf, .lengthscale = std::sqrt(0.5 * parameters.time)};
  gp.noise = kNoise;
  return gp;
}

// A model without a mean of its own.
ExactGp gp_of(const Rows& rows, const Vector& y, const BoilParameters& parameters) {
  return ExactGp(rows, y, kernel_of(parameters, rows.dim()), {.coefficient = 0.0});
}

struct Scores {
  Vector y;  // standardised by mean and deviation (divisor n)
  Vector middle_slope;
  Vector growth_slope;
};

// The derivative of (s - mean) / sd, given that of s.
Vector standardised_slope(const Vector& y, const Vector& slope, double sd) {
  return (slope.array() - slope.mean() - y.array() * (y.dot(slope) / static_cast<double>(y.size()))) / sd;
}

Scores scores_of(const BoilData& data, const CurveWeights& weights) {
  const auto n = static_cast<Eigen::Index>(data.curves.size());
  Scores scores{Vector(n), Vector(n), Vector(n)};
  for (Eigen::Index i = 0; i < n; ++i) {
    const CompressedCurve curve = compressed(data.curves[static_cast<std::size_t>(i)], weights, data.max_epoch);
    scores.y[i] = curve.score;
    scores.middle_slope[i] = curve.middle_slope;
    scores.growth_slope[i] = curve.growth_slope;
  }
  scores.y.array() -= scores.y.mean();
  double sd = std::sqrt(scores.y.squaredNorm() / static_cast<double>(n));
  if (!(sd > 1e-12)) sd = 1.0;
  scores.y /= sd;
  scores.middle_slope = standardised_slope(scores.y, scores.middle_slope, sd);
  scores.growth_slope = standardised_slope(scores.y, scores.growth_slope, sd);
  return scores;
}

// One trial on its way into the data.
struct Source {
  Vector x;
  std::vector<double> values = {};
  Cost cost = 0.0;
};

// Values raised to where clipping lets them stand and, if there are negative ones, made to begin at 0: the weights
// would turn losses around.
std::vector<Source> sources_of(const std::vector<LearningCurve>& curves) {
  std::vector<double> all;
  for (const LearningCurve& curve : curves) all.insert(all.end(), curve.values.begin(), curve.values.end());
  check(!all.empty(), "boil: there is nothing to learn from yet");
  const Vector values = Eigen::Map<const Vector>(all.data(), std::ssize(all));
  const double level = clip_level(values);
  const double lowest = std::max(level, values.minCoeff());
  const double origin = std::min(0.0, lowest);
  std::vector<Source> sources;
  for (const LearningCurve& curve : curves) {
    if (curve.fate == CurveFate::running || curve.values.empty()) continue;
    Source source{.x = curve.x, .cost = curve.full_cost()};
    for (const double value : curve.dense()) source.values.push_back(std::max(value, level) - origin);
    sources.push_back(std::move(source));
  }
  return sources;
}

// The best ones, in their order, if there are too many.
void thin(std::vector<Source>& sources, int most) {
  if (std::ssize(sources) <= most) return;
  std::vector<double> best;
  for (const Source& s : sources) best.push_back(*std::max_element(s.values.begin(), s.values.end()));
  std::vector<double> sorted = best;
  std::nth_element(sorted.begin(), sorted.begin() + (most - 1), sorted.end(), std::greater<>());
  const double bar = sorted[static_cast<std::size_t>(most - 1)];
  int room = most;
  std::size_t i = 0;
  std::erase_if(sources, [&](const Source&) { return !(best[i++] >= bar && room-- > 0); });
}

// Lengths at which a curve enters the data: all of it, then the epochs of largest variance, given the rows in `gp` and
// those chosen. The chosen ones are appended to `gp`, whose values do not matter.
std::vector<Epoch> choose_lengths(ExactGp& gp, const Vector& x, Epoch last, const CurveEpochs& range, int more) {
  const Epoch first = std::min(range.min, last);
  const Epoch count = last - first + 1;
  Vector t(count);
  for (Epoch i = 0; i < count; ++i) t[i] = scaled_epoch(range, first + i);
  const Rows line = Rows::at_taus(x.transpose().replicate(count, 1), t);
  const Eigen::Index n = gp.size();
  Matrix whitened(n + more + 1, count);
  if (n > 0) whitened.topRows(n) = gp.whitened_cross(line);
  Vector variance = remaining_variance(gp.covariance().variances(line), whitened.topRows(n));
  const Matrix prior = gp.covariance().gram(line);
  std::vector<Eigen::Index> chosen;
  Eigen::Index next = count - 1;
  while (true) {
    const Eigen::Index known = n + std::ssize(chosen);
    whitened.row(known) = (prior.row(next) - whitened.col(next).head(known).transpose() * whitened.topRows(known)) /
                          std::sqrt(variance[next] + kNoise);
    variance = (variance - whitened.row(known).transpose().cwiseAbs2()).cwiseMax(0.0);
    chosen.push_back(next);
    if (std::ssize(chosen) > more) break;
    variance.maxCoeff(&next);
    if (std::find(chosen.begin(), chosen.end(), next) != chosen.end()) break;
  }
  gp.append(line.select(chosen), Vector::Zero(std::ssize(chosen)));
  std::vector<Epoch> lengths;
  for (const Eigen::Index i : chosen) lengths.push_back(first + static_cast<Epoch>(i));
  return lengths;
}

Rows rows_of(const BoilData& data) { return Rows::at_taus(data.x, data.t); }

// Every so many-th row.
BoilData subset(const BoilData& data, int most) {
  const Eigen::Index n = data.t.size();
  const Eigen::Index count = std::min<Eigen::Index>(n, most);
  BoilData part;
  part.max_epoch = data.max_epoch;
  part.x.resize(count, data.x.cols());
  part.t.resize(count);
  for (Eigen::Index i = 0; i < count; ++i) {
    const Eigen::Index row = i * n / count;
    part.x.row(i) = data.x.row(row);
    part.t[i] = data.t[row];
    part.curves.push_back(data.curves[static_cast<std::size_t>(row)]);
  }
  return part;
}

BoilParameters fitted(const BoilData& all, const BoilModelOptions& options, Rng& rng) {
  if (options.fit_trials == 0) return {};
  const BoilData data = subset(all, options.fit_rows);
  Vector best;
  double best_value = -std::numeric_limits<double>::infinity();
  for (int i = 0; i < options.fit_trials; ++i) {
    const Vector u = Vector::NullaryExpr(4, [&] { return rng.uniform(); });
    const double value = boil_likelihood(data, parameters_at(u)).value;
    if (value > best_value || best.size() == 0) {
      best_value = value;
      best = u;
    }
  }
  const Objective objective = [&](const Vector& u, Vector& gradient) {
    const BoilLikelihood at = boil_likelihood(data, parameters_at(u));
    gradient = at.gradient.cwiseProduct(kHigh - kLow);
    return at.value;
  };
  const MaximizeSummary end = maximize(
      objective, {Vector::Zero(4), Vector::Ones(4)}, best, {.max_iterations = kFitIterations, .value_tolerance = 1e-2});
  return parameters_at(end.x);
}

}  // namespace

double scaled_epoch(const CurveEpochs& range, Epoch epoch) {
  if (range.min == range.max) return 1.0;
  return std::clamp(static_cast<double>(epoch - range.min) / (range.max - range.min), 0.0, 1.0);
}

int virtual_points(double t, const BoilModelOptions& options) {
  return static_cast<int>(std::floor(options.virtual_points * t + 1e-9));
}

BoilData boil_data(const std::vector<LearningCurve>& curves, CurveEpochs range, const BoilModelOptions& options) {
  std::vector<Source> sources = sources_of(curves);
  thin(sources, options.max_rows);
  const int room = options.max_rows / static_cast<int>(sources.size()) - 1;
  const Eigen::Index d = curves.front().x.size();
  ExactGp seen = gp_of(Rows::at_taus(Matrix(0, d), Vector(0)), Vector(0), {});
  BoilData data;
  data.max_epoch = range.max;
  data.values.reserve(sources.size());
  std::vector<double> costs;
  for (Source& source : sources) {
    const auto last = static_cast<Epoch>(source.values.size());
    const int more = std::min(room, virtual_points(scaled_epoch(range, last), options));
    data.values.push_back(std::move(source.values));
    for (const Epoch length : choose_lengths(seen, source.x, last, range, more)) {
      data.curves.push_back(std::span<const double>(data.values.back()).first(static_cast<std::size_t>(length)));
      costs.push_back(source.cost * length / last);
    }
  }
  data.x = seen.rows().x;
  data.t = seen.rows().tau;
  data.costs = Eigen::Map<const Vector>(costs.data(), std::ssize(costs));
  return data;
}

BoilLikelihood boil_likelihood(const BoilData& data, const BoilParameters& parameters) {
  const Eigen::Index n = data.t.size();
  Matrix distance = Matrix::Zero(n, n);
  for (Eigen::Index j = 0; j < data.x.cols(); ++j) {
    distance.array() += (data.x.col(j).replicate(1, n) - data.x.col(j).transpose().replicate(n, 1)).array().square();
  }
  const Matrix apart = (data.t.replicate(1, n) - data.t.transpose().replicate(n, 1)).cwiseAbs2();
  const Matrix k = (-distance / parameters.space - apart / parameters.time).array().exp();
  Matrix noisy = k;
  noisy.diagonal().array() += kNoise;
  const std::optional<Cholesky> factor = Cholesky::factor(noisy);
  if (!factor) return {-std::numeric_limits<double>::infinity(), Vector::Zero(4)};
  const Scores scores = scores_of(data, parameters.weights);
  const Vector alpha = factor->solve(scores.y);
  Matrix weights = -factor->inverse_of_matrix();
  weights.noalias() += alpha * alpha.transpose();
  weights.array() *= 0.5 * k.array();
  BoilLikelihood result{.value = -0.5 * (scores.y.dot(alpha) + factor->log_det()), .gradient = Vector(4)};
  result.gradient << weights.cwiseProduct(distance).sum() / (parameters.space * parameters.space),
      weights.cwiseProduct(apart).sum() / (parameters.time * parameters.time), -alpha.dot(scores.middle_slope),
      -alpha.dot(scores.growth_slope);
  return result;
}

ScaledCost fit_scaled_cost(const BoilData& data) {
  const Eigen::Index d = data.x.cols();
  ScaledCost result{.slope = Vector::Zero(d + 1), .constant = 0.0};
  const Vector& costs = data.costs;
  if (costs.size() == 0) return result;
  const double low = costs.minCoeff();
  const double width = costs.maxCoeff() - low;
  if (!(width > 0.0)) return result;
  Matrix design(costs.size(), d + 2);
  design.leftCols(d) = data.x;
  design.col(d) = data.t;
  design.col(d + 1).setOnes();
  const Vector scaled = (costs.array() - low) / width;
  const Vector solution = design.completeOrthogonalDecomposition().solve(scaled);
  return {.slope = solution.head(d + 1), .constant = solution[d + 1]};
}

BoilModel fit_boil(const std::vector<LearningCurve>& known,
                   const std::vector<RunningCurve>& running,
                   CurveEpochs epochs,
                   const BoilModelOptions& options,
                   Rng& rng) {
  const BoilData data = boil_data(known, epochs, options);
  const BoilParameters parameters = fitted(data, options, rng);
  const ExactGp gp = gp_of(rows_of(data), scores_of(data, parameters.weights).y, parameters);
  Vector ends(std::ssize(running));
  for (std::size_t i = 0; i < running.size(); ++i) {
    ends[static_cast<Eigen::Index>(i)] = scaled_epoch(epochs, running[i].until);
  }
  return {.parameters = parameters,
          .gp = gp.with_pending(Rows::at_taus(stacked_x(running), ends)),
          .cost = fit_scaled_cost(data)};
}

Moments boil_moments(const Surrogate& gp, const Matrix& xt) {
  const Eigen::Index d = xt.rows() - 1;
  return gp.predict(Rows::at_taus(xt.topRows(d).transpose(), xt.row(d).transpose()));
}

SpaceTimeMoments boil_gradients(const ExactGp& gp, const Matrix& xt) {
  const Eigen::Index d = xt.rows() - 1;
  Rows rows = Rows::at_taus(xt.topRows(d).transpose(), xt.row(d).transpose());
  MomentGradients over_x = gp.predict_with_gradients(rows);
  const Matrix values = gp.whitened_cross(rows);
  rows.op.assign(rows.op.size(), Op::slope);
  const Matrix slopes = gp.whitened_cross(rows);
  SpaceTimeMoments result{.mean = std::move(over_x.moments.mean),
                          .variance = std::move(over_x.moments.variance),
                          .mean_gradient = Matrix(d + 1, xt.cols()),
                          .variance_gradient = Matrix(d + 1, xt.cols())};
  result.mean_gradient.topRows(d) = over_x.mean;
  result.mean_gradient.row(d) = (slopes.transpose() * gp.residual()).transpose();
  result.variance_gradient.topRows(d) = over_x.variance;
  result.variance_gradient.row(d) = -2.0 * values.cwiseProduct(slopes).colwise().sum();
  return result;
}

}  // namespace bapi
