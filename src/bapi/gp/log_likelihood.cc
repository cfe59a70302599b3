#include "bapi/gp/log_likelihood.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <optional>
#include <utility>

#include "bapi/base/error.h"
#include "bapi/gp/trend_prior.h"
#include "bapi/math/constants.h"

namespace bapi {
namespace {

// Rows in an order in which equal x stand together, so that correlations over x are computed once per pair of points.
std::vector<Eigen::Index> by_point(const Rows& rows) {
  std::vector<Eigen::Index> order(static_cast<std::size_t>(rows.size()));
  std::iota(order.begin(), order.end(), Eigen::Index{0});
  std::stable_sort(order.begin(), order.end(), [&](Eigen::Index a, Eigen::Index b) {
    for (Eigen::Index j = 0; j < rows.dim(); ++j) {
      if (rows.x(a, j) != rows.x(b, j)) return rows.x(a, j) < rows.x(b, j);
    }
    return false;
  });
  return order;
}

}  // namespace

// The time kernel's share of the work: values for columns of the covariance, and the sums of weights from which the
// derivatives in its parameters follow. Where the kernel depends on the sum or the difference of two epochs alone, both
// go through a table over these: a derivative is then sum_a (sum of weights with argument a) * d kt(a).
class TimePart {
 public:
  TimePart(const Rows& rows, const TimeKernel& structure) : rows_(rows) {
    const std::optional<TimeArgument> argument = structure.form().argument();
    if (rows.max_epoch > 0 && argument) {
      sign_ = *argument == TimeArgument::sum ? 1 : -1;
      offset_ = sign_ > 0 ? 0 : rows.max_epoch;
      arguments_ = Vector::LinSpaced(2 * rows.max_epoch + 1, -offset_, 2 * rows.max_epoch - offset_) / rows.max_epoch;
    }
  }

  void set(const TimeKernel& kernel) {
    kernel_ = kernel;
    if (tabulated()) kernel.form().evaluate(kernel, arguments_, table_);
    sums_ = Vector::Zero(tabulated() ? arguments_.size() : static_cast<Eigen::Index>(kernel.parameters().size()));
  }

  // kt between row j and the rows j, j+1, ...
  void column(Eigen::Index j, Eigen::Ref<Vector> out) const {
    if (!tabulated()) return kernel_.form().column(kernel_, rows_.tau.tail(out.size()), rows_.tau(j), out);
    const double* table = table_.values.data() + offset_ + sign_ * rows_.epoch[j];
    const Epoch* epochs = rows_.epoch.data() + j;
    for (Eigen::Index i = 0; i < out.size(); ++i) out(i) = table[epochs[i]];
  }

  // Takes the weights of the same rows into account: derivatives are sums of weight times d kt.
  void add(Eigen::Index j, const Eigen::Ref<const Vector>& weights) {
    if (!tabulated()) {
      return kernel_.form().add_derivatives(kernel_, rows_.tau.tail(weights.size()), rows_.tau(j), weights, sums_);
    }
    double* sums = sums_.data() + offset_ + sign_ * rows_.epoch[j];
    const Epoch* epochs = rows_.epoch.data() + j;
    for (Eigen::Index i = 0; i < weights.size(); ++i) sums[epochs[i]] += weights(i);
  }

  // In the logs of the kernel's parameters.
  Vector gradient() const {
    if (tabulated()) return table_.log_derivatives.transpose() * sums_;
    return kernel_.form().derivatives(kernel_, sums_);
  }

 private:
  bool tabulated() const { return arguments_.size() > 0; }

  const Rows& rows_;
  TimeKernel kernel_;
  int sign_ = 1;
  Epoch offset_ = 0;
  Vector arguments_;            // of the table, in units of tau
  TimeForm::Evaluation table_;  // kt and d kt at them
  Vector sums_;                 // of weights, per entry of the table or per parameter
};

Vector log_parameters(const GpParameters& parameters) {
  std::vector<double> values{parameters.kernel.amplitude};
  for (const double length : parameters.kernel.space.lengthscales) values.push_back(length);
  for (const double value : parameters.kernel.time.parameters()) values.push_back(value);
  if (parameters.kernel.own_amplitude > 0.0) values.push_back(parameters.kernel.own_amplitude);
  values.push_back(parameters.noise);
  return Eigen::Map<const Vector>(values.data(), static_cast<Eigen::Index>(values.size())).array().log();
}

GpParameters with_log_parameters(const GpParameters& structure, const Vector& logs) {
  GpParameters result = structure;
  const Eigen::Index d = structure.kernel.space.lengthscales.size();
  const auto time_count = static_cast<Eigen::Index>(structure.kernel.time.parameters().size());
  const bool own = structure.kernel.own_amplitude > 0.0;
  check(logs.size() == 2 + d + time_count + (own ? 1 : 0), "hyperparameters: wrong number of logs");
  const Vector values = logs.array().exp();
  result.kernel.amplitude = values(0);
  result.kernel.space.lengthscales = values.segment(1, d);
  const Vector time = values.segment(1 + d, time_count);
  result.kernel.time = structure.kernel.time.with_parameters(std::vector<double>(time.begin(), time.end()));
  if (own) result.kernel.own_amplitude = values(1 + d + time_count);
  result.noise = values(values.size() - 1);
  return result;
}

// "Hyperparameters" of docs/method.md. With C = K + noise I = L L^T, a = C^-1 (y - m) and theta any parameter,
//   log p(y) = -(y - m)^T a / 2 - log det L - n log(2 pi) / 2,   d log p / d theta = tr((a a^T - C^-1) dC / d theta)
//   / 2.
// The mean's coefficient maximises the likelihood, and the weights of trends their posterior density, which is added:
// their own change does not matter. W = a a^T - C^-1 is symmetric:
// one sweep over the columns of its lower half, the diagonal halved, meets every entry of W once, and the factors of dC
// are shared. In logs: d/d log amplitude = amplitude kx kt, d/d log own = own 1[same group] kt, d/d log length_k =
// amplitude kt g (difference_k / length_k)^2 with g the factor of the space kernel, and (amplitude kx + own) d kt for
// the time kernel. kx and g depend on pairs of distinct points only, so weights are summed over the rows of a point
// first.
class LogLikelihood::Workspace {
 public:
  Workspace(const Rows& rows, const Vector& y, const GpParameters& structure, const PriorMean& prior)
      : order_(by_point(rows)),
        rows_(rows.select(order_)),
        structure_(structure),
        prior_(prior),
        time_(rows_, structure.kernel.time) {
    check(rows.all_values(), "log likelihood: a data row is not a value");
    check(y.size() == rows.size(), "log likelihood: y and rows differ in length");
    const Eigen::Index n = rows.size();
    y_.resize(n);
    for (Eigen::Index i = 0; i < n; ++i) y_(i) = y(order_[i]);
    basis_ = mean_basis(rows_, prior.shape);
    trends_ = trend_columns(rows_, prior.trends);
    number_points();
    factor_.resize(n, n);
    inverse_.resize(n, n);
    correlations_.resize(points_.rows(), points_.rows());
    factors_.resize(points_.rows(), points_.rows());
  }

  Eigen::Index parameter_count() const { return log_parameters(structure_).size(); }

  double evaluate(const Vector& logs, Vector& gradient) {
    parameters_ = with_log_parameters(structure_, logs);
    time_.set(parameters_.kernel.time);
    fill_correlations();
    fill_covariance();
    if (!factor_in_place(factor_)) return -std::numeric_limits<double>::infinity();
    const double value = solve_for_residual();
    inverse_from_factor(factor_, inverse_);
    gradient = sweep();
    return value;
  }

 private:
  void number_points() {
    point_.resize(order_.size());
    std::vector<Eigen::Index> first;
    for (Eigen::Index i = 0; i < rows_.size(); ++i) {
      if (i == 0 || rows_.x.row(i) != rows_.x.row(i - 1)) first.push_back(i);
      point_[i] = static_cast<Eigen::Index>(first.size()) - 1;
    }
    points_ = rows_.select(first).x;
    one_row_per_point_ = points_.rows() == rows_.size();
  }

  void fill_correlations() {
    scaled_ = parameters_.kernel.space.scaled(points_);
    const Eigen::Index m = points_.rows();
    Vector distances(m);
    for (Eigen::Index q = 0; q < m; ++q) {
      const Eigen::Index rest = m - q;
      squared_distances(scaled_, q, scaled_, q, distances.head(rest));
      parameters_.kernel.space.correlations_and_factors(
          distances.head(rest), correlations_.col(q).tail(rest), factors_.col(q).tail(rest));
    }
  }

  // One value per point from column q of a matrix over points, spread over the rows j, j+1, ...
  void spread(const Matrix& over_points, Eigen::Index j, Eigen::Ref<Vector> out) const {
    const double* column = over_points.data() + point_[j] * over_points.rows();
    if (one_row_per_point_) {
      out = Eigen::Map<const Vector>(column + j, out.size());
      return;
    }
    const Eigen::Index* point = point_.data() + j;
    for (Eigen::Index i = 0; i < out.size(); ++i) out(i) = column[point[i]];
  }

  void fill_covariance() {
    const Eigen::Index n = rows_.size();
    const double amplitude = parameters_.kernel.amplitude;
    Vector over_time(n);
    Vector over_x(n);
    for (Eigen::Index j = 0; j < n; ++j) {
      const Eigen::Index rest = n - j;
      time_.column(j, over_time.head(rest));
      spread(correlations_, j, over_x.head(rest));
      over_x.head(rest) *= amplitude;
      add_own(j, over_x.head(rest));
      factor_.col(j).tail(rest) = over_x.head(rest).cwiseProduct(over_time.head(rest));
      factor_(j, j) += parameters_.noise;
    }
  }

  void add_own(Eigen::Index j, Eigen::Ref<Vector> out) const {
    const double own = parameters_.kernel.own_amplitude;
    if (own <= 0.0) return;
    const int group = rows_.group[j];
    for (Eigen::Index i = 0; i < out.size(); ++i) out(i) += rows_.group[j + i] == group ? own : 0.0;
  }

  double solve_for_residual() {
    const Eigen::Index n = rows_.size();
    Vector residual = y_;
    const auto lower = factor_.triangularView<Eigen::Lower>();
    if (n > 0) lower.solveInPlace(residual);
    double log_prior = 0.0;  // of the weights of the trends
    Vector basis = basis_;
    if (n > 0 && (prior_.coefficient != 0.0 || trends_.cols() > 0)) lower.solveInPlace(basis);
    if (trends_.cols() > 0) {
      Matrix trends = trends_;
      if (n > 0) lower.solveInPlace(trends);
      Detrended part = without_trends(residual, trends, basis, prior_);
      residual = std::move(part.rest);
      log_prior = trend_log_prior(part.weights, prior_.trend_sd);
    }
    if (prior_.coefficient != 0.0) {
      const double norm = basis.squaredNorm();
      const double m = prior_.coefficient.value_or(norm > 0.0 ? basis.dot(residual) / norm : 0.0);
      residual -= m * basis;
    }
    const double value = -0.5 * residual.squaredNorm() - factor_.diagonal().array().log().sum() -
                         0.5 * static_cast<double>(n) * kLogTwoPi + log_prior;
    alpha_ = std::move(residual);
    if (n > 0) factor_.transpose().triangularView<Eigen::Upper>().solveInPlace(alpha_);
    return value;
  }

  Vector sweep() {
    const Eigen::Index n = rows_.size();
    const Eigen::Index d = points_.cols();
    const double amplitude = parameters_.kernel.amplitude;
    const double own = parameters_.kernel.own_amplitude;
    double over_amplitude = 0.0;
    double over_own = 0.0;
    Vector over_lengths = Vector::Zero(d);
    Vector weights(n);
    Vector over_time(n);
    Vector over_x(n);
    Vector weighted(points_.rows());
    for (Eigen::Index j = 0; j < n; ++j) {
      const Eigen::Index rest = n - j;
      auto w = weights.head(rest);
      auto kt = over_time.head(rest);
      auto kx = over_x.head(rest);
      w = alpha_(j) * alpha_.tail(rest) - inverse_.col(j).tail(rest);
      w(0) *= 0.5;  // the diagonal counts once, the rest stands for both halves
      time_.column(j, kt);
      spread(correlations_, j, kx);
      kx *= amplitude;
      const Eigen::Index q = point_[j];
      auto at_points = weighted.tail(points_.rows() - q);
      spread_back(j, w, kt, at_points);
      over_amplitude += w.cwiseProduct(kt).dot(kx);
      if (own > 0.0) {
        for (Eigen::Index i = 0; i < rest; ++i) {
          if (rows_.group[j + i] == rows_.group[j]) over_own += w(i) * kt(i) * own;
        }
        add_own(j, kx);
      }
      w.array() *= kx.array();
      time_.add(j, w);
      at_points.array() *= factors_.col(q).tail(at_points.size()).array();
      for (Eigen::Index k = 0; k < d; ++k) {
        over_lengths(k) +=
            (scaled_.col(k).tail(at_points.size()).array() - scaled_(q, k)).square().matrix().dot(at_points);
      }
    }
    return assemble(over_amplitude, amplitude * over_lengths, over_own);
  }

  // Sums of weight * kt per point.
  void spread_back(Eigen::Index j,
                   const Eigen::Ref<const Vector>& w,
                   const Eigen::Ref<const Vector>& kt,
                   Eigen::Ref<Vector> at_points) const {
    if (one_row_per_point_) {
      at_points = w.cwiseProduct(kt);
      return;
    }
    at_points.setZero();
    const Eigen::Index q = point_[j];
    for (Eigen::Index i = 0; i < w.size(); ++i) at_points(point_[j + i] - q) += w(i) * kt(i);
  }

  Vector assemble(double over_amplitude, const Vector& over_lengths, double over_own) const {
    Vector gradient(parameter_count());
    const Vector over_time = time_.gradient();
    const Eigen::Index d = over_lengths.size();
    gradient(0) = over_amplitude;
    gradient.segment(1, d) = over_lengths;
    gradient.segment(1 + d, over_time.size()) = over_time;
    if (parameters_.kernel.own_amplitude > 0.0) gradient(1 + d + over_time.size()) = over_own;
    gradient(gradient.size() - 1) = 0.5 * parameters_.noise * (alpha_.squaredNorm() - inverse_.diagonal().sum());
    return gradient;
  }

  std::vector<Eigen::Index> order_;
  Rows rows_;  // in that order
  GpParameters structure_;
  PriorMean prior_;
  TimePart time_;
  Vector y_;
  Vector basis_;
  Matrix trends_;                    // their values, one column each
  Matrix points_;                    // distinct x
  std::vector<Eigen::Index> point_;  // of each row; non-decreasing
  bool one_row_per_point_ = false;

  GpParameters parameters_;
  Matrix scaled_;
  Matrix correlations_;  // kx over points, lower half
  Matrix factors_;       // g over points, lower half
  Matrix factor_;        // the covariance, then L
  Matrix inverse_;
  Vector alpha_;
};

LogLikelihood::LogLikelihood(const Rows& rows, const Vector& y, const GpParameters& structure, const PriorMean& prior)
    : workspace_(std::make_unique<Workspace>(rows, y, structure, prior)) {}
LogLikelihood::~LogLikelihood() = default;
LogLikelihood::LogLikelihood(LogLikelihood&&) noexcept = default;
LogLikelihood& LogLikelihood::operator=(LogLikelihood&&) noexcept = default;

Eigen::Index LogLikelihood::parameter_count() const { return workspace_->parameter_count(); }

double LogLikelihood::operator()(const Vector& log_parameters, Vector& gradient) {
  return workspace_->evaluate(log_parameters, gradient);
}

}  // namespace bapi
