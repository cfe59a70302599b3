#include "bapi/acquisition/cost_cooling.h"

#include <gtest/gtest.h>

#include <cmath>

#include "bapi/acquisition/improvement.h"

namespace bapi {
namespace {

TEST(CostCooling, HasThePublishedValues) {
  const double log_ei = std::log(0.0572689);
  EXPECT_NEAR(std::exp(log_cooled_improvement(log_ei, std::log(3.0), 0.04, 0.5)), 0.0332300, 1e-7);
  EXPECT_NEAR(std::exp(log_cooled_improvement(log_ei, std::log(3.0), 0.04, 1.0)), 0.0194753, 1e-7);
  EXPECT_DOUBLE_EQ(log_cooled_improvement(log_ei, std::log(3.0), 0.04, 0.0), log_ei);
}

TEST(CostCooling, GradientsAgreeWithDifferences) {
  GpParameters parameters;
  parameters.kernel.space = {SpaceKind::matern52, Eigen::Vector2d(0.5, 0.7)};
  parameters.kernel.time = {.kind = TimeKind::constant};
  const Matrix x = (Matrix(4, 2) << 0.1, 0.9, 0.4, 0.2, 0.8, 0.6, 0.5, 0.5).finished();
  const ExactGp values(Rows::at_configurations(x), Eigen::Vector4d(0.3, -1.0, 0.8, 0.2), parameters);
  const ExactGp costs(Rows::at_configurations(x), Eigen::Vector4d(-1.0, 0.2, 1.1, 0.4), parameters);
  const SearchObjective objective = cooled_objective(
      {.values = values, .best = 0.8, .log_costs = costs, .log_cost_unit = {.mean = 2.0, .scale = 0.7}}, 0.6);
  const Matrix points = (Matrix(2, 2) << 0.3, 0.7, 0.65, 0.15).finished();
  Vector at(2);
  Matrix gradients(2, 2);
  objective.ascend(points, at, gradients);
  EXPECT_NEAR((at - objective.score(points)).norm(), 0.0, 1e-12);
  const double h = 1e-6;
  for (Eigen::Index i = 0; i < points.size(); ++i) {
    Matrix up = points;
    Matrix down = points;
    up(i) += h;
    down(i) -= h;
    EXPECT_NEAR(gradients(i), (objective.score(up) - objective.score(down)).sum() / (2.0 * h), 1e-6);
  }
}

}  // namespace
}  // namespace bapi
