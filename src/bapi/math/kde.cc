#include "bapi/math/kde.h"

#include <algorithm>
#include <cmath>

#include "bapi/base/error.h"
#include "bapi/math/normal.h"

namespace bapi {
namespace {

constexpr double kMinBandwidth = 1e-3;
constexpr double kLogFloor = -73.682722997619;  // log 1e-32

double bandwidth(const Eigen::Ref<const Vector>& column, Eigen::Index dimensions, const Coordinate& axis) {
  const auto n = static_cast<double>(column.size());
  const double sd = std::sqrt((column.array() - column.mean()).square().sum() / n);
  const double h = std::max(kMinBandwidth, 1.06 * sd * std::pow(n, -1.0 / static_cast<double>(4 + dimensions)));
  return axis.categorical() ? std::min(h, 1.0 - 1.0 / axis.options) : h;
}

// h is 0 for a single option only, and then the two are equal.
double log_option_kernel(double x, double centre, double h, int options) {
  return x == centre ? std::log1p(-h) : std::log(h / (options - 1));
}

double drawn_option(double centre, double h, int options, double u) {
  if (u < 1.0 - h) return centre;
  return std::min(options - 1.0, std::floor((u - (1.0 - h)) / h * options));
}

double log_mean_exp(const Vector& logs) {
  const double top = logs.maxCoeff();
  if (!std::isfinite(top)) return top;
  return top + std::log((logs.array() - top).exp().mean());
}

}  // namespace

double truncated_to_unit(double mean, double sd, double u) {
  const double z = truncated_normal_quantile(-mean / sd, (1.0 - mean) / sd, u);
  return std::clamp(mean + sd * z, 0.0, 1.0);
}

ProductDensity::ProductDensity(Matrix points, std::vector<Coordinate> axes)
    : points_(std::move(points)), axes_(std::move(axes)), bandwidths_(points_.cols()) {
  check(points_.rows() >= 1 && points_.cols() == std::ssize(axes_), "ProductDensity: sizes do not match");
  for (Eigen::Index k = 0; k < points_.cols(); ++k) {
    bandwidths_[k] = bandwidth(points_.col(k), points_.cols(), axes_[static_cast<std::size_t>(k)]);
  }
}

double ProductDensity::log_density(const Vector& x) const {
  Vector logs = Vector::Zero(points_.rows());
  for (Eigen::Index k = 0; k < points_.cols(); ++k) {
    const Coordinate& axis = axes_[static_cast<std::size_t>(k)];
    const double h = bandwidths_[k];
    if (!axis.categorical()) {
      logs.array() -= 0.5 * ((x[k] - points_.col(k).array()) / h).square() + (kLogSqrtTwoPi + std::log(h));
      continue;
    }
    for (Eigen::Index i = 0; i < points_.rows(); ++i) {
      logs[i] += log_option_kernel(x[k], points_(i, k), h, axis.options);
    }
  }
  return log_mean_exp(logs);
}

Vector ProductDensity::draw(double widening, Rng& rng) const {
  const int row = rng.below(static_cast<int>(points_.rows()));
  Vector x(points_.cols());
  for (Eigen::Index k = 0; k < x.size(); ++k) {
    const Coordinate& axis = axes_[static_cast<std::size_t>(k)];
    const double centre = points_(row, k);
    const double u = rng.uniform();
    x[k] = axis.categorical() ? drawn_option(centre, bandwidths_[k], axis.options, u)
                              : truncated_to_unit(centre, widening * bandwidths_[k], u);
  }
  return x;
}

std::optional<DensitySplit> density_split(int n, int d) {
  const int min_points = d + 1;
  if (n < min_points) return std::nullopt;
  const int good = std::min(n, std::max(min_points, 15 * n / 100));
  const int bad = std::min(n - good, std::max(min_points, 85 * n / 100));
  if (good <= d || bad <= d) return std::nullopt;
  return DensitySplit{.good = good, .bad = bad};
}

DensityPair DensityPair::fit(const Matrix& best_first, const std::vector<Coordinate>& axes, const DensitySplit& split) {
  check(best_first.rows() >= split.good + split.bad, "DensityPair: the split takes more points than there are");
  return {.good = ProductDensity(best_first.topRows(split.good), axes),
          .bad = ProductDensity(best_first.middleRows(split.good, split.bad), axes)};
}

double DensityPair::log_ratio(const Vector& x) const {
  return std::max(kLogFloor, good.log_density(x)) - std::max(kLogFloor, bad.log_density(x));
}

Vector DensityPair::propose(int candidates, double widening, Rng& rng) const {
  Vector best = good.draw(widening, rng);
  double best_ratio = log_ratio(best);
  for (int i = 1; i < candidates; ++i) {
    const Vector x = good.draw(widening, rng);
    const double ratio = log_ratio(x);
    if (ratio > best_ratio) {
      best = x;
      best_ratio = ratio;
    }
  }
  return best;
}

}  // namespace bapi
