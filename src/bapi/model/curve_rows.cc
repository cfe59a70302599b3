#include "bapi/model/curve_rows.h"

#include <algorithm>
#include <limits>
#include <numeric>

namespace bapi {
namespace {

CurveResponse response_of(const LearningCurve& curve, ResponseKind kind, Epoch max_epoch) {
  const Vector scores = Eigen::Map<const Vector>(curve.values.data(), std::ssize(curve.values));
  const CurveEnd end = curve.fate == CurveFate::ended ? CurveEnd::ended : CurveEnd::open;
  return curve_response(curve.epochs(), scores, kind, end, max_epoch);
}

// The last point, and going back every point whose epoch is at most half of the one kept before.
std::vector<std::size_t> halved_points(const std::vector<Epoch>& epochs) {
  std::vector<std::size_t> kept = {epochs.size() - 1};
  for (std::size_t i = epochs.size() - 1; i-- > 0;) {
    if (2 * epochs[i] <= epochs[kept.back()]) kept.push_back(i);
  }
  std::reverse(kept.begin(), kept.end());
  return kept;
}

Eigen::Index rows_of(const std::vector<CurveSource>& curves) {
  Eigen::Index rows = 0;
  for (const CurveSource& curve : curves) rows += std::ssize(curve.kept);
  return rows;
}

}  // namespace

std::vector<CurveSource> curve_sources(const std::vector<LearningCurve>& curves,
                                       ResponseKind response,
                                       Epoch max_epoch) {
  std::vector<CurveSource> sources;
  for (const LearningCurve& curve : curves) {
    if (curve.values.empty()) continue;
    sources.push_back({.id = curve.id, .x = curve.x, .response = response_of(curve, response, max_epoch)});
  }
  return sources;
}

void keep_points(std::vector<CurveSource>& curves, PointRule rule) {
  for (CurveSource& curve : curves) {
    curve.kept = rule == PointRule::last ? std::vector<std::size_t>{curve.response.epochs.size() - 1}
                                         : halved_points(curve.response.epochs);
  }
}

void thin(std::vector<CurveSource>& curves, int max_rows) {
  Eigen::Index rows = rows_of(curves);
  if (rows <= max_rows) return;
  std::vector<std::size_t> worst_first(curves.size());
  std::iota(worst_first.begin(), worst_first.end(), 0);
  std::stable_sort(worst_first.begin(), worst_first.end(), [&](std::size_t a, std::size_t b) {
    return curves[a].last_value() < curves[b].last_value();
  });
  for (const std::size_t i : worst_first) {
    if (rows <= max_rows) return;
    rows -= std::ssize(curves[i].kept) - 1;
    curves[i].kept = {curves[i].kept.back()};
  }
  std::vector<bool> dropped(curves.size(), false);
  for (const std::size_t i : worst_first) {
    if (rows <= max_rows) break;
    dropped[i] = true;
    --rows;
  }
  std::size_t i = 0;
  std::erase_if(curves, [&](const CurveSource&) { return dropped[i++]; });
}

CurveRows kept_rows(const std::vector<CurveSource>& curves, Epoch max_epoch) {
  const Eigen::Index n = rows_of(curves);
  Matrix x(n, curves.front().x.size());
  Vector values(n);
  std::vector<Epoch> epochs;
  std::vector<CurveId> groups;
  Eigen::Index row = 0;
  for (const CurveSource& curve : curves) {
    for (const std::size_t i : curve.kept) {
      x.row(row) = curve.x.transpose();
      values[row++] = curve.response.values[static_cast<Eigen::Index>(i)];
      epochs.push_back(curve.response.epochs[i]);
      groups.push_back(curve.id);
    }
  }
  return {Rows::at_epochs(std::move(x), std::move(epochs), max_epoch, std::move(groups)), std::move(values)};
}

Response response_of(const std::vector<CurveSource>& curves, const Vector& values, const CurveModelOptions& options) {
  const double factor = options.clip ? ClipOptions{}.factor : std::numeric_limits<double>::infinity();
  Vector reached(std::ssize(curves));
  for (std::size_t i = 0; i < curves.size(); ++i) reached[static_cast<Eigen::Index>(i)] = curves[i].last_value();
  if (!options.warp) return standardised_response(values, {.factor = factor}, {}, {.bounds = options.bounds});
  const BoundWarp bound = bound_warp(options.bounds, reached);
  const Vector opened = reached.unaryExpr([&](double y) { return bound.apply(y); });
  return standardised_response(values, {.factor = factor}, gap_warp(opened), bound);
}

std::vector<Eigen::Index> evenly_taken_curves(const Rows& rows, int max_rows) {
  std::vector<Eigen::Index> all(static_cast<std::size_t>(rows.size()));
  std::iota(all.begin(), all.end(), 0);
  if (rows.size() <= max_rows) return all;
  std::vector<Eigen::Index> first;  // of each curve
  for (Eigen::Index i = 0; i < rows.size(); ++i) {
    if (i == 0 || rows.group[static_cast<std::size_t>(i)] != rows.group[static_cast<std::size_t>(i) - 1]) {
      first.push_back(i);
    }
  }
  const double share = static_cast<double>(max_rows) / static_cast<double>(rows.size());
  std::vector<Eigen::Index> subset;
  double due = 0.5;
  for (std::size_t curve = 0; curve < first.size(); ++curve) {
    due += share;
    if (due < 1.0) continue;
    due -= 1.0;
    const Eigen::Index end = curve + 1 < first.size() ? first[curve + 1] : rows.size();
    for (Eigen::Index i = first[curve]; i < end; ++i) subset.push_back(i);
  }
  return subset.empty() ? all : subset;
}

}  // namespace bapi
