#include "bapi/acquisition/search.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "bapi/base/error.h"

namespace bapi {
namespace {

// Two hills; the higher one at `top`.
struct Hills {
  Vector top = Vector::Constant(3, 0.7);
  Vector other = Vector::Constant(3, 0.2);

  double value(const Vector& x) const {
    return 2.0 * std::exp(-8.0 * (x - top).squaredNorm()) + std::exp(-8.0 * (x - other).squaredNorm());
  }
  Vector values(const Matrix& points) const {
    Vector v(points.cols());
    for (Eigen::Index i = 0; i < points.cols(); ++i) v[i] = value(points.col(i));
    return v;
  }
  SearchObjective objective() const {
    return {.screen = [this](const Matrix& p) { return values(p); },
            .score = [this](const Matrix& p) { return values(p); },
            .ascend =
                [this](const Matrix& p, Vector& v, Matrix& g) {
                  v = values(p);
                  g.resize(p.rows(), p.cols());
                  for (Eigen::Index i = 0; i < p.cols(); ++i) {
                    const Vector x = p.col(i);
                    g.col(i) = -32.0 * std::exp(-8.0 * (x - top).squaredNorm()) * (x - top) -
                               16.0 * std::exp(-8.0 * (x - other).squaredNorm()) * (x - other);
                  }
                }};
  }
};

TEST(Search, FindsTheHigherOfTwoHills) {
  const Hills hills;
  Rng rng(1);
  const std::vector<ScoredPoint> found = search_cube(hills.objective(), 3, Matrix(3, 0), {}, {.raw_points = 64}, rng);
  ASSERT_FALSE(found.empty());
  EXPECT_LT((found.front().x - hills.top).norm(), 0.02);
  for (std::size_t i = 1; i < found.size(); ++i) EXPECT_LE(found[i].score, found[i - 1].score);
}

TEST(Search, ClimbsTheScoreOnlyFromTheBestEndsOfAnApproximation) {
  const Hills hills;
  Hills near = hills;  // the same hills, a little aside
  near.top.array() += 0.05;
  near.other.array() -= 0.05;
  SearchObjective objective = hills.objective();
  objective.approach = near.objective().ascend;
  Eigen::Index most = 0;
  objective.ascend = [&, climb = hills.objective().ascend](const Matrix& p, Vector& v, Matrix& g) {
    most = std::max(most, p.cols());
    climb(p, v, g);
  };
  Rng rng(3);
  const std::vector<ScoredPoint> found =
      search_cube(objective, 3, Matrix(3, 0), {}, {.raw_points = 64, .starts = 6, .finalists = 1}, rng);
  ASSERT_FALSE(found.empty());
  EXPECT_EQ(most, 1);
  EXPECT_LT((found.front().x - hills.top).norm(), 0.01);
}

TEST(Search, ScoresOnlyDecodedPoints) {
  const Hills hills;
  Rng rng(2);
  const Decoder to_grid = [](const Vector& x) -> Vector { return (x * 4.0).array().round() / 4.0; };
  SearchObjective objective = hills.objective();
  const auto check_grid = [&](const Matrix& points) {
    for (Eigen::Index i = 0; i < points.cols(); ++i) EXPECT_EQ(to_grid(points.col(i)), points.col(i));
    return hills.values(points);
  };
  objective.screen = check_grid;
  objective.score = check_grid;
  const std::vector<ScoredPoint> found = search_cube(objective, 3, Matrix(3, 0), to_grid, {.raw_points = 64}, rng);
  ASSERT_FALSE(found.empty());
  EXPECT_EQ(found.front().x, Vector(Vector::Constant(3, 0.75)));
}

TEST(Search, LooksAroundTheAnchors) {
  // A needle that no screen of 16 points meets.
  const Vector needle = Vector::Constant(6, 0.31);
  const auto value = [&](const Matrix& p) -> Vector {
    return (-2000.0 * (p.colwise() - needle).colwise().squaredNorm()).array().exp().transpose();
  };
  const SearchObjective objective{
      .screen = value, .score = value, .ascend = [&](const Matrix& p, Vector& v, Matrix& g) {
        v = value(p);
        g = Matrix::Zero(p.rows(), p.cols());
      }};
  Rng rng(3);
  const std::vector<ScoredPoint> found = search_cube(objective, 6, needle, {}, {.raw_points = 16}, rng);
  EXPECT_EQ(found.front().x, needle);
}

TEST(Search, SameStreamSameAnswer) {
  const Hills hills;
  Rng a(4);
  Rng b(4);
  EXPECT_EQ(search_cube(hills.objective(), 3, Matrix(3, 0), {}, {}, a).front().x,
            search_cube(hills.objective(), 3, Matrix(3, 0), {}, {}, b).front().x);
}

TEST(Search, WithoutAnyFiniteScoreFindsNothing) {
  const SearchObjective objective{
      .screen = [](const Matrix& p) -> Vector { return Vector::Constant(p.cols(), -INFINITY); },
      .score = {},
      .ascend = {}};
  Rng rng(5);
  EXPECT_TRUE(search_cube(objective, 2, Matrix(2, 0), {}, {}, rng).empty());
  EXPECT_THROW(search_cube(objective, 2, Matrix(2, 0), {}, {.raw_points = 0}, rng), InvalidInput);
}

}  // namespace
}  // namespace bapi
