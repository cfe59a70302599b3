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

struct Ends {
  Matrix points;  // d x m
  Vector values;
};

Ends climbed(const BatchObjective& objective, const Matrix& starts, const MaximizeOptions& options) {
  const Box cube{Vector::Zero(starts.rows()), Vector::Ones(starts.rows())};
  Ends ends{starts, Vector(starts.cols())};
  Eigen::Index i = 0;
  for (const MaximizeSummary& ascent : maximize_together(objective, cube, starts, options)) {
    ends.points.col(i) = ascent.x;
    ends.values[i++] = ascent.value;
  }
  return ends;
}

// Best first, no two the same.
std::vector<ScoredPoint> scored(const Matrix& points, const Vector& scores) {
  std::vector<ScoredPoint> found;
  for (const Eigen::Index i : ranking(scores)) {
    const bool is_new =
        std::none_of(found.begin(), found.end(), [&](const ScoredPoint& p) { return p.x == points.col(i); });
    if (is_new) found.push_back({points.col(i), scores[i]});
  }
  return found;
}

}  // namespace

void SearchOptions::validate() const {
  require(raw_points >= 1, fmt::format("search.raw_points = {}, must be at least 1", raw_points));
  require(starts >= 1, fmt::format("search.starts = {}, must be at least 1", starts));
  require(finalists >= 1, fmt::format("search.finalists = {}, must be at least 1", finalists));
  ascent.validate();
  approach.validate();
}

SearchObjective times(SearchObjective objective, const BatchObjective& log_factor, Eigen::Index coordinates) {
  if (!log_factor) return objective;
  const auto weighted = [=](const std::function<Vector(const Matrix&)>& score) {
    return [=](const Matrix& points) -> Vector {
      Vector logs(points.cols());
      Matrix unused(coordinates, points.cols());
      log_factor(points.topRows(coordinates), logs, unused);
      return score(points) + logs;
    };
  };
  const auto weighted_slopes = [=](const BatchObjective& score) {
    return [=](const Matrix& points, Vector& values, Matrix& gradients) {
      score(points, values, gradients);
      Vector logs(points.cols());
      Matrix slopes(coordinates, points.cols());
      log_factor(points.topRows(coordinates), logs, slopes);
      values += logs;
      gradients.topRows(coordinates) += slopes;
    };
  };
  objective.screen = weighted(objective.screen);
  objective.score = weighted(objective.score);
  objective.ascend = weighted_slopes(objective.ascend);
  if (objective.approach) objective.approach = weighted_slopes(objective.approach);
  return objective;
}

Matrix screen_points(int dimensions, const Matrix& anchors, int count, const Decoder& decode, Rng& rng) {
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
  return decoded(std::move(points), decode);
}

Matrix free_screen_points(int dimensions,
                          const Matrix& anchors,
                          int count,
                          const Decoder& decode,
                          const std::function<bool(const Vector&)>& is_taken,
                          Rng& rng) {
  constexpr int kScreens = 4;
  for (int i = 0; i < kScreens; ++i) {
    const Matrix all = screen_points(dimensions, anchors, count, decode, rng);
    std::vector<Eigen::Index> free;
    for (Eigen::Index k = 0; k < all.cols(); ++k) {
      if (!is_taken(all.col(k))) free.push_back(k);
    }
    if (!free.empty()) return all(Eigen::all, free);
  }
  return Matrix(dimensions, 0);
}

std::vector<ScoredPoint> search_cube(const SearchObjective& objective,
                                     int dimensions,
                                     const Matrix& anchors,
                                     const Decoder& decode,
                                     const SearchOptions& options,
                                     Rng& rng) {
  options.validate();
  return search_among(objective, screen_points(dimensions, anchors, options.raw_points, decode, rng), decode, options);
}

std::vector<ScoredPoint> search_among(const SearchObjective& objective,
                                      const Matrix& screen,
                                      const Decoder& decode,
                                      const SearchOptions& options) {
  options.validate();
  Matrix starts = best_distinct(screen, ranking(objective.screen(screen)), options.starts);
  if (starts.cols() == 0) return {};

  Matrix ends = starts;
  if (objective.approach) {
    const Ends near = climbed(objective.approach, starts, options.approach);
    ends = best_distinct(near.points, ranking(near.values), options.finalists);
    starts.conservativeResize(Eigen::NoChange, std::min<Eigen::Index>(starts.cols(), options.finalists));
  }
  ends = climbed(objective.ascend, ends, options.ascent).points;
  Matrix found(starts.rows(), starts.cols() + ends.cols());
  found << starts, decoded(std::move(ends), decode);
  return scored(found, objective.score(found));
}

}  // namespace bapi
