#include "bapi/acquisition/search.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "bapi/base/error.h"
#include "bapi/math/quasi_random.h"

namespace bapi {

namespace {

// Points drawn near each anchor, and their standard deviation in the cube.
constexpr int kPerAnchor = 4;
constexpr double kNear = 0.05;

// Two starts closer than this would climb the same hill.
constexpr double kDistinctStarts = 0.02;

Matrix decoded(Matrix points, const Decoder& decode) {
  if (decode) {
    for (Eigen::Index i = 0; i < points.cols(); ++i) points.col(i) = decode(points.col(i));
  }
  return points;
}

Matrix raw_points(int dimensions, const Matrix& anchors, int count, Rng& rng) {
  const Eigen::Index near = anchors.cols() * (1 + kPerAnchor);
  Matrix points(dimensions, count + near);
  points.leftCols(count) = scrambled_sobol_points(count, dimensions, rng).transpose();
  Eigen::Index next = count;
  for (Eigen::Index a = 0; a < anchors.cols(); ++a) {
    points.col(next++) = anchors.col(a);
    for (int k = 0; k < kPerAnchor; ++k, ++next) {
      for (int j = 0; j < dimensions; ++j) points(j, next) = std::clamp(anchors(j, a) + kNear * rng.normal(), 0.0, 1.0);
    }
  }
  return points;
}

// Indices by falling score, those that are not finite left out; ties in the order given.
std::vector<Eigen::Index> ranking(const Vector& scores) {
  std::vector<Eigen::Index> order(static_cast<std::size_t>(scores.size()));
  std::iota(order.begin(), order.end(), 0);
  std::erase_if(order, [&](Eigen::Index i) { return !std::isfinite(scores[i]); });
  std::stable_sort(order.begin(), order.end(), [&](Eigen::Index a, Eigen::Index b) { return scores[a] > scores[b]; });
  return order;
}

Matrix best_distinct(const Matrix& points, const std::vector<Eigen::Index>& order, int count) {
  std::vector<Eigen::Index> chosen;
  for (const Eigen::Index i : order) {
    if (std::ssize(chosen) == count) break;
    const bool is_new = std::all_of(chosen.begin(), chosen.end(), [&](Eigen::Index j) {
      return (points.col(i) - points.col(j)).cwiseAbs().maxCoeff() > kDistinctStarts;
    });
    if (is_new) chosen.push_back(i);
  }
  Matrix result(points.rows(), static_cast<Eigen::Index>(chosen.size()));
  for (std::size_t i = 0; i < chosen.size(); ++i) result.col(static_cast<Eigen::Index>(i)) = points.col(chosen[i]);
  return result;
}

}  // namespace

void SearchOptions::validate() const {
  require(raw_points >= 1, fmt::format("search.raw_points = {}, must be at least 1", raw_points));
  require(starts >= 1, fmt::format("search.starts = {}, must be at least 1", starts));
  ascent.validate();
}

std::vector<ScoredPoint> search_cube(const SearchObjective& objective,
                                     int dimensions,
                                     const Matrix& anchors,
                                     const Decoder& decode,
                                     const SearchOptions& options,
                                     Rng& rng) {
  options.validate();
  return search_among(objective, raw_points(dimensions, anchors, options.raw_points, rng), decode, options);
}

std::vector<ScoredPoint> search_among(const SearchObjective& objective,
                                      const Matrix& screen_points,
                                      const Decoder& decode,
                                      const SearchOptions& options) {
  options.validate();
  const Eigen::Index dimensions = screen_points.rows();
  const Matrix screen = decoded(screen_points, decode);
  const std::vector<Eigen::Index> order = ranking(objective.screen(screen));
  const Matrix starts = best_distinct(screen, order, options.starts);
  if (starts.cols() == 0) return {};

  const Box cube{Vector::Zero(dimensions), Vector::Ones(dimensions)};
  const std::vector<MaximizeSummary> ascents = maximize_together(objective.ascend, cube, starts, options.ascent);
  Matrix ends(dimensions, 2 * starts.cols());
  ends.leftCols(starts.cols()) = starts;
  for (std::size_t i = 0; i < ascents.size(); ++i) {
    ends.col(starts.cols() + static_cast<Eigen::Index>(i)) = ascents[i].x;
  }
  ends = decoded(std::move(ends), decode);
  const Vector scores = objective.score(ends);
  std::vector<ScoredPoint> found;
  for (const Eigen::Index i : ranking(scores)) {
    const bool is_new =
        std::none_of(found.begin(), found.end(), [&](const ScoredPoint& p) { return p.x == ends.col(i); });
    if (is_new) found.push_back({ends.col(i), scores[i]});
  }
  return found;
}

}  // namespace bapi
