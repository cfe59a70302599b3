#include "bapi/acquisition/penalised_future.h"

#include <gtest/gtest.h>

#include <cmath>

namespace bapi {
namespace {

ExactGp model() {
  GpParameters parameters;
  parameters.kernel.amplitude = 0.8;
  parameters.kernel.space = {SpaceKind::matern52, Eigen::Vector2d(0.3, 0.5)};
  parameters.kernel.time = {.kind = TimeKind::constant};
  parameters.noise = 1e-3;
  const Matrix x = (Matrix(6, 2) << 0.1, 0.9, 0.4, 0.2, 0.8, 0.6, 0.5, 0.5, 0.9, 0.1, 0.2, 0.4).finished();
  return ExactGp(Rows::at_configurations(x), Vector(x.col(0) - 2.0 * x.col(1).cwiseAbs2()), parameters);
}

TEST(LocalPenalty, HasThePublishedValues) {
  const auto penalty = [](double distance) { return std::exp(log_local_penalty(2.0, distance, 1.0, 0.4, 0.3)); };
  EXPECT_NEAR(penalty(0.0), 0.02275, 1e-5);
  EXPECT_NEAR(penalty(0.1), 0.09121, 1e-5);
  EXPECT_NEAR(penalty(0.3), 0.5, 1e-12);
  EXPECT_NEAR(penalty(0.6), 0.97725, 1e-5);
}

TEST(SlopeNorms, AgreeWithTheModelAndWithDifferences) {
  const ExactGp gp = model();
  const Matrix points = (Matrix(2, 3) << 0.3, 0.7, 0.4, 0.65, 0.15, 0.2).finished();  // the last is a data row
  Vector norms;
  Matrix gradients;
  slope_norms(gp, points, norms, gradients);
  const MomentGradients at = gp.predict_with_gradients(Rows::at_configurations(points.transpose()));
  EXPECT_NEAR((norms - at.mean.colwise().norm().transpose()).norm(), 0.0, 1e-12);
  const double h = 1e-6;
  for (Eigen::Index i = 0; i < points.size(); ++i) {
    Matrix up = points;
    Matrix down = points;
    up(i) += h;
    down(i) -= h;
    Vector above;
    Vector below;
    Matrix ignored;
    slope_norms(gp, up, above, ignored);
    slope_norms(gp, down, below, ignored);
    EXPECT_NEAR(gradients(i), (above - below).sum() / (2.0 * h), 1e-5 * std::max(1.0, std::abs(gradients(i))));
  }
}

TEST(SteepestSlope, IsNotExceededOnAGrid) {
  const ExactGp gp = model();
  Rng rng(1);
  const double steepest = steepest_slope(gp, rng);
  double on_grid = 0.0;
  for (int i = 0; i <= 40; ++i) {
    Matrix line(2, 41);
    line.row(0).setConstant(i / 40.0);
    line.row(1).setLinSpaced(0.0, 1.0);
    Vector norms;
    Matrix gradients;
    slope_norms(gp, line, norms, gradients);
    on_grid = std::max(on_grid, norms.maxCoeff());
  }
  EXPECT_GE(steepest, on_grid - 1e-9);
  EXPECT_LT(steepest, 1.2 * on_grid);
}

// Every guess is penalised by its own distance from the points before it, so the guesses keep apart.
TEST(PenalisedFuture, KeepsAwayFromThePointsBefore) {
  const ExactGp gp = model();
  Rng rng(2);
  const PenalisedFuture future(gp, gp.y().maxCoeff(), rng);
  const Vector first = Eigen::Vector2d(0.95, 0.02);
  for (const Matrix& guesses : {future.rough(first, 3), future.refined(first, 3)}) {
    ASSERT_EQ(guesses.cols(), 3);
    EXPECT_GE(guesses.minCoeff(), 0.0);
    EXPECT_LE(guesses.maxCoeff(), 1.0);
    for (int i = 0; i < 3; ++i) {
      EXPECT_GT((guesses.col(i) - first).norm(), 0.05);
      for (int j = 0; j < i; ++j) EXPECT_GT((guesses.col(i) - guesses.col(j)).norm(), 0.05);
    }
  }
}

}  // namespace
}  // namespace bapi
