#include "bapi/math/box_quadrature.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numbers>

#include "bapi/base/error.h"
#include "bapi/math/constants.h"
#include "bapi/math/normal.h"

namespace bapi {

namespace {

constexpr int kNodes = 24;

// Beyond this drop of the log-integrand on either side of its mode, what is left is below 1e-15 of the whole.
constexpr double kDrop = 36.0;

struct GaussLegendre {
  std::array<double, kNodes> node{};    // in (0, 1)
  std::array<double, kNodes> weight{};  // sums to 1
};

// Roots of the Legendre polynomial by Newton's method from the classical guess.
GaussLegendre gauss_legendre() {
  GaussLegendre rule;
  for (int i = 0; i < kNodes; ++i) {
    double x = std::cos(std::numbers::pi * (i + 0.75) / (kNodes + 0.5));
    double slope = 1.0;
    for (int iteration = 0; iteration < 20; ++iteration) {
      double previous = 1.0;
      double value = x;
      for (int k = 2; k <= kNodes; ++k) {
        const double next = ((2.0 * k - 1.0) * x * value - (k - 1.0) * previous) / k;
        previous = value;
        value = next;
      }
      slope = kNodes * (x * value - previous) / (x * x - 1.0);
      const double step = value / slope;
      x -= step;
      if (std::abs(step) < 1e-16) break;
    }
    rule.node[static_cast<std::size_t>(i)] = 0.5 * (1.0 - x);
    rule.weight[static_cast<std::size_t>(i)] = 1.0 / ((1.0 - x * x) * slope * slope);
  }
  return rule;
}

const GaussLegendre& rule() {
  static const GaussLegendre value = gauss_legendre();
  return value;
}

// What does not depend on the bounds, for the coordinates from `first` on.
struct Level {
  double scale = 1.0;     // factor(first, first)
  SmallVector influence;  // factor(rest, first): how z moves the bounds of the others
  SmallVector direction;  // factor(rest, rest)^-1 factor(rest, first)
  SmallVector steepness;  // influence in units of the others' conditional standard deviations
  SmallVector deviation;  // these standard deviations
};

class NestedQuadrature {
 public:
  explicit NestedQuadrature(const SmallMatrix& factor) : size_(static_cast<int>(factor.rows())) {
    for (int k = 0; k < size_; ++k) {
      const int rest = size_ - k - 1;
      Level& level = levels_[static_cast<std::size_t>(k)];
      level.scale = factor(k, k);
      level.influence = factor.col(k).tail(rest);
      level.direction = level.influence;
      level.deviation.resize(rest);
      level.steepness.resize(rest);
      for (int i = 0; i < rest; ++i) {
        for (int j = 0; j < i; ++j) level.direction[i] -= factor(k + 1 + i, k + 1 + j) * level.direction[j];
        level.direction[i] /= factor(k + 1 + i, k + 1 + i);
        level.deviation[i] = factor.row(k + 1 + i).segment(k + 1, i + 1).norm();
        level.steepness[i] = level.influence[i] / level.deviation[i];
      }
    }
  }

  // Coordinates from `first` on, given the bounds that are left for them.
  BoxMoments moments(int first, const SmallVector& lower, const SmallVector& upper) const {
    if (first == size_ - 1) return last_coordinate(lower[0], upper[0]);
    const Level& level = levels_[static_cast<std::size_t>(first)];
    const double low = lower[0] / level.scale;
    const double high = upper[0] / level.scale;
    if (!(low < high)) return impossible(first);

    const auto at = [&](double z) { return given(first, z, lower, upper); };
    const Point mode = find_mode(low, high, at);
    if (!std::isfinite(mode.log_density)) return impossible(first);
    const double left = find_end(mode, low, -1.0, at);
    const double right = find_end(mode, high, +1.0, at);
    return integrate(first, mode, breakpoints(level, lower, upper, left, mode.z, right), at);
  }

 private:
  // The integrand at z: log density up to a constant, its first two derivatives, and the moments of the rest given z.
  struct Point {
    double z = 0.0;
    double log_density = -kInfinity;
    double slope = 0.0;
    double curvature = -1.0;
    BoxMoments rest;
  };

  static constexpr int kMaxBreakpoints = 3 + 8 * (kMaxQuadratureDimensions - 1);
  struct Breakpoints {
    std::array<double, kMaxBreakpoints> z{};
    int count = 0;
    void add(double value) { z[static_cast<std::size_t>(count++)] = value; }
  };

  BoxMoments last_coordinate(double lower, double upper) const {
    const double scale = levels_[static_cast<std::size_t>(size_ - 1)].scale;
    const double low = lower / scale;
    const double high = upper / scale;
    BoxMoments result;
    result.mean.resize(1);
    result.covariance.resize(1, 1);
    TailMoments tail;
    if (high == kInfinity) {
      const NormalTail at = normal_tail_and_hazard(low);
      result.log_probability = at.log_tail;
      tail = normal_tail_moments(low, at.hazard);
    } else {
      result.log_probability = log_normal_interval(low, high);
      tail = normal_interval_moments(low, high);
    }
    result.mean[0] = tail.mean;
    result.covariance(0, 0) = tail.variance;
    return result;
  }

  BoxMoments impossible(int first) const {
    const int n = size_ - first;
    return {-kInfinity, SmallVector::Zero(n), SmallMatrix::Zero(n, n)};
  }

  Point given(int first, double z, const SmallVector& lower, const SmallVector& upper) const {
    const Level& level = levels_[static_cast<std::size_t>(first)];
    const auto rest = static_cast<Eigen::Index>(size_ - first - 1);
    Point point;
    point.z = z;
    const SmallVector rest_lower = lower.tail(rest) - z * level.influence;
    const SmallVector rest_upper = upper.tail(rest) - z * level.influence;
    point.rest = moments(first + 1, rest_lower, rest_upper);
    point.log_density = -0.5 * z * z + point.rest.log_probability;
    point.slope = -z + level.direction.dot(point.rest.mean);
    const double spread = level.direction.dot(point.rest.covariance * level.direction);
    point.curvature = -1.0 - std::max(0.0, level.direction.squaredNorm() - spread);
    return point;
  }

  // Newton's method on the slope, kept inside a bracket. Precision is not needed: the mode only splits the range of
  // integration. A step past a bound of the range tries the bound itself, any other step out of the bracket bisects.
  template <typename At>
  static Point find_mode(double low, double high, const At& at) {
    Point best = at(std::clamp(0.0, low, high));
    double left = low;
    double right = high;
    for (int i = 0; i < 80; ++i) {
      const bool at_bound = (best.z <= low && best.slope <= 0.0) || (best.z >= high && best.slope >= 0.0);
      const bool flat = std::abs(best.slope) <= 0.05 * std::sqrt(-best.curvature);
      if (at_bound || flat || !std::isfinite(best.log_density)) break;
      (best.slope > 0.0 ? left : right) = best.z;
      double next = best.z - best.slope / best.curvature;
      if (next <= left) next = left == low ? low : 0.5 * (left + best.z);
      if (next >= right) next = right == high ? high : 0.5 * (right + best.z);
      best = at(next);
    }
    return best;
  }

  // Where the log density has dropped by kDrop, or the bound. The density is log-concave with curvature at most -1, so
  // a parabola gives a point beyond the end, and Newton's method approaches the end from there without passing it.
  template <typename At>
  static double find_end(const Point& mode, double bound, double sign, const At& at) {
    const double falling = std::max(0.0, -sign * mode.slope);
    const double distance = 2.0 * (kDrop + 1.0) / (falling + std::sqrt(falling * falling + 2.0 * (kDrop + 1.0)));
    double z = mode.z + sign * distance;
    if (sign * z >= sign * bound) z = bound;
    for (int i = 0; i < 12; ++i) {
      const Point point = at(z);
      const double excess = mode.log_density - kDrop - point.log_density;
      if (!(excess > 8.0)) break;
      if (!std::isfinite(excess) || !(sign * point.slope < 0.0)) {
        z = 0.5 * (z + mode.z);
        continue;
      }
      z += excess / point.slope;
    }
    return z;
  }

  // Besides the mode, the range is split where another variable's bound passes quickly from certain to hopeless:
  // a step of the integrand that is narrow compared to its width.
  static Breakpoints breakpoints(
      const Level& level, const SmallVector& lower, const SmallVector& upper, double left, double mode, double right) {
    constexpr double kSteep = 2.5;
    Breakpoints points;
    points.add(left);
    if (mode > left && mode < right) points.add(mode);
    points.add(right);
    for (Eigen::Index i = 0; i < level.steepness.size(); ++i) {
      if (std::abs(level.steepness[i]) < kSteep) continue;
      for (const double bound : {lower[i + 1], upper[i + 1]}) {
        if (!std::isfinite(bound)) continue;
        for (const double offset : {-8.0, -4.0, 0.0, 5.0}) {
          const double inside = bound == lower[i + 1] ? offset : -offset;
          const double z = (bound - inside * level.deviation[i]) / level.influence[i];
          if (z > left && z < right) points.add(z);
        }
      }
    }
    std::sort(points.z.begin(), points.z.begin() + points.count);
    return points;
  }

  // Sums over the nodes, about the mode so that no digits are lost in the far tail.
  template <typename At>
  BoxMoments integrate(int first, const Point& mode, const Breakpoints& points, const At& at) const {
    const int n = size_ - first;
    double total = 0.0;
    SmallVector sum = SmallVector::Zero(n);
    SmallMatrix square = SmallMatrix::Zero(n, n);
    SmallVector offset(n);
    for (int panel = 0; panel + 1 < points.count; ++panel) {
      const double from = points.z[static_cast<std::size_t>(panel)];
      const double width = points.z[static_cast<std::size_t>(panel + 1)] - from;
      for (std::size_t i = 0; i < kNodes; ++i) {
        const Point point = at(from + width * rule().node[i]);
        const double weight = width * rule().weight[i] * std::exp(point.log_density - mode.log_density);
        if (weight <= 0.0) continue;
        offset[0] = point.z - mode.z;
        offset.tail(n - 1) = point.rest.mean - mode.rest.mean;
        total += weight;
        sum += weight * offset;
        square += weight * (offset * offset.transpose());
        square.bottomRightCorner(n - 1, n - 1) += weight * point.rest.covariance;
      }
    }
    if (!(total > 0.0)) return impossible(first);
    BoxMoments result;
    result.log_probability = mode.log_density - kLogSqrtTwoPi + std::log(total);
    const SmallVector shift = sum / total;
    result.covariance = square / total - shift * shift.transpose();
    result.mean = shift;
    result.mean[0] += mode.z;
    result.mean.tail(n - 1) += mode.rest.mean;
    return result;
  }

  int size_;
  std::array<Level, kMaxQuadratureDimensions> levels_;
};

}  // namespace

BoxMoments box_moments(const SmallMatrix& factor, const SmallVector& lower, const SmallVector& upper) {
  check(factor.rows() >= 1 && factor.rows() == factor.cols(), "box_moments: the factor is empty or not square");
  check(lower.size() == factor.rows() && upper.size() == factor.rows(), "box_moments: bounds of another dimension");
  return NestedQuadrature(factor).moments(0, lower, upper);
}

}  // namespace bapi
