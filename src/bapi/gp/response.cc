#include "bapi/gp/response.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "bapi/base/error.h"

namespace bapi {
namespace {

constexpr double kMinusInfinity = -std::numeric_limits<double>::infinity();

// A deviation below this is rounding of a constant.
constexpr double kSmallestDeviation = 1e-12;

std::vector<double> finite_ascending(const Vector& values) {
  std::vector<double> finite;
  for (const double value : values) {
    if (std::isfinite(value)) finite.push_back(value);
  }
  std::sort(finite.begin(), finite.end());
  return finite;
}

// The middle of two values, without overflow.
double between(double a, double b) { return a / 2.0 + b / 2.0; }

double median(const std::vector<double>& ascending) {
  const std::size_t half = ascending.size() / 2;
  return ascending.size() % 2 == 1 ? ascending[half] : between(ascending[half - 1], ascending[half]);
}

// The highest of a few lower quantiles that lies below the best.
double reference_level(const std::vector<double>& ascending) {
  const double best = ascending.back();
  if (median(ascending) < best) return median(ascending);
  for (const std::size_t share : {4, 10}) {
    const double quantile = ascending[ascending.size() / share];
    if (quantile < best) return quantile;
  }
  return ascending.front();
}

}  // namespace

CurveResponse curve_response(
    const std::vector<Epoch>& epochs, const Vector& scores, ResponseKind kind, CurveEnd end, Epoch max_epoch) {
  check(scores.size() == static_cast<Eigen::Index>(epochs.size()), "response: epochs and scores differ in length");
  check(std::is_sorted(epochs.begin(), epochs.end()), "response: epochs are not ascending");
  CurveResponse response{.epochs = epochs, .values = scores};
  double best = kMinusInfinity;
  for (double& value : response.values) {
    const double usable = std::isfinite(value) ? value : kMinusInfinity;
    best = std::max(best, usable);
    value = kind == ResponseKind::running_maximum ? best : usable;
  }
  if (end == CurveEnd::ended && !epochs.empty() && epochs.back() < max_epoch) {
    const double last = response.values(response.values.size() - 1);
    response.epochs.push_back(max_epoch);
    response.values.conservativeResize(response.values.size() + 1);
    response.values(response.values.size() - 1) = last;
  }
  return response;
}

std::optional<double> fluctuation(const Vector& curve) {
  if (curve.size() < 4) return std::nullopt;
  const Eigen::Index count = std::min<Eigen::Index>(10, (curve.size() + 1) / 2 + 1);
  const auto late = curve.tail(count).array();
  const Eigen::Index n = count - 2;
  // A straight course cancels out; the noise of three values, weighed 1, -2 and 1, adds up to six variances.
  return (late.head(n) - 2.0 * late.segment(1, n) + late.tail(n)).square().mean() / 6.0;
}

void ClipOptions::validate() const {
  require(factor >= 0.0, fmt::format("clip.factor = {}, must not be negative", factor));
}

double clip_level(const Vector& values, const ClipOptions& options) {
  options.validate();
  const std::vector<double> finite = finite_ascending(values);
  if (finite.empty()) return 0.0;
  const double best = finite.back();
  const double reference = reference_level(finite);
  if (best == reference) return best;
  return std::max(finite.front(), reference - options.factor * (best - reference));
}

Vector clipped(const Vector& values, double level) {
  Vector result = values;
  for (double& value : result) {
    if (!std::isfinite(value) || value < level) value = level;
  }
  return result;
}

Vector Standardization::apply(const Vector& y) const { return (y.array() / unit - mean / unit) / (scale / unit); }

Standardization standardization(const Vector& y) {
  check(y.allFinite(), "standardization: a value is not finite");
  Standardization result;
  if (y.size() == 0) return result;
  const double largest = y.cwiseAbs().maxCoeff();
  result.unit = largest > 1e100 ? largest : 1.0;
  const Vector scaled = y / result.unit;
  const double mean = scaled.mean();
  result.mean = mean * result.unit;
  if (y.size() < 2) return result;
  const double deviation =
      std::sqrt((scaled.array() - mean).square().sum() / static_cast<double>(y.size() - 1)) * result.unit;
  if (deviation >= kSmallestDeviation) result.scale = deviation;
  return result;
}

double BoundWarp::apply(double y) const {
  if (margin == 0.0 || std::isnan(y)) return y;
  const double inside = bounds.clamped(y);
  const double above = std::log(bounds.high - inside + margin);
  return std::isinf(bounds.low) ? -above : std::log(inside - bounds.low + margin) - above;
}

double BoundWarp::undo(double warped) const {
  if (margin == 0.0) return bounds.clamped(warped);
  if (std::isinf(bounds.low)) return bounds.clamped(bounds.high + margin - std::exp(-warped));
  const double width = bounds.high - bounds.low + 2.0 * margin;
  return bounds.clamped(bounds.low - margin + width / (1.0 + std::exp(-warped)));
}

double BoundWarp::slope(double warped) const {
  if (margin == 0.0) return 1.0;
  if (std::isinf(bounds.low)) return std::exp(-warped);
  const double width = bounds.high - bounds.low + 2.0 * margin;
  const double decay = std::exp(-std::abs(warped));
  return width * decay / ((1.0 + decay) * (1.0 + decay));
}

BoundWarp bound_warp(const ScoreBounds& bounds, const Vector& values) {
  constexpr double kMargin = 1e-3;
  constexpr double kLeastMargin = 1e-9;  // of the distance of the worst value, where the best one is at the bound
  const std::vector<double> finite = finite_ascending(values);
  BoundWarp warp{.bounds = bounds};
  if (finite.empty() || std::isinf(bounds.high)) return warp;
  const double distance = bounds.high - bounds.clamped(finite.back());
  const double worst = bounds.high - bounds.clamped(finite.front());
  const double margin = std::isinf(bounds.low) ? std::max(kMargin * distance, kLeastMargin * worst)
                                               : kMargin * (bounds.high - bounds.low);
  if (std::isfinite(margin)) warp.margin = margin;
  return warp;
}

double GapWarp::apply(double y) const {
  if (gap == 0.0) return y;
  return y <= best ? -std::log1p((best - y) / gap) : (y - best) / gap;
}

double GapWarp::undo(double warped) const {
  if (gap == 0.0) return warped;
  return warped <= 0.0 ? best - gap * std::expm1(-warped) : best + gap * warped;
}

double GapWarp::slope(double warped) const {
  if (gap == 0.0) return 1.0;
  return warped <= 0.0 ? gap * std::exp(-warped) : gap;
}

GapWarp gap_warp(const Vector& values) {
  const std::vector<double> finite = finite_ascending(values);
  if (finite.empty()) return {};
  const double best = finite.back();
  const auto worse = std::lower_bound(finite.begin(), finite.end(), best);
  if (worse == finite.begin()) return {};
  const auto median = finite.begin() + (std::ssize(finite) - 1) / 2;
  const double gap = best - *std::min(median, worse - 1);
  return std::isfinite(gap) ? GapWarp{.best = best, .gap = gap} : GapWarp{};
}

Response standardised_response(const Vector& values,
                               const ClipOptions& options,
                               const GapWarp& warp,
                               const BoundWarp& bound) {
  const Vector warped = values.unaryExpr([&](double y) { return warp.apply(bound.apply(y)); });
  Response response;
  response.clip_level = clip_level(warped, options);
  const Vector usable = clipped(warped, response.clip_level);
  for (Eigen::Index i = 0; i < values.size(); ++i) response.clipped += usable(i) != warped(i) ? 1 : 0;
  response.scale = {.bound = bound, .warp = warp, .standard = standardization(usable)};
  response.y = response.scale.standard.apply(usable);
  return response;
}

}  // namespace bapi
