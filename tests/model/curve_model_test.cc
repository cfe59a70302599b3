#include "bapi/model/curve_model.h"

#include <gtest/gtest.h>

#include <cmath>

#include "bapi/base/error.h"

namespace bapi {
namespace curve_model_test {

constexpr CurveEpochs kEpochs{.min = 1, .max = 20};

// Curves at x = 0, 0.1, ..., 1 that end at x - (x - 0.6)^2, each trained for `epochs`.
std::vector<LearningCurve> eleven_curves(Epoch epochs) {
  std::vector<LearningCurve> curves;
  for (int i = 0; i <= 10; ++i) {
    const double x = 0.1 * i;
    LearningCurve curve{.id = i, .x = Vector::Constant(1, x)};
    for (Epoch t = 1; t <= epochs; ++t) curve.values.push_back(x - (x - 0.6) * (x - 0.6) - 0.5 / t);
    curves.push_back(std::move(curve));
  }
  return curves;
}

CurveModel fitted(const std::vector<LearningCurve>& curves, const CurveModelOptions& options = {}) {
  Rng rng(3);
  return CurveModel::fit(curves, kEpochs, options, rng);
}

TEST(CurveModel, KnowsTheBestValueAndForecastsBetweenItsCurves) {
  const CurveModel model = fitted(eleven_curves(20));
  EXPECT_NEAR(model.scale.undo(model.best), 1.0 - 0.16 - 0.025, 1e-9);
  const Rows end = Rows::of_curve(Vector::Constant(1, 0.55), {20}, 20, kFirstNewCurve);
  const Moments at = model.surrogate->curve(Vector::Constant(1, 0.55), kFirstNewCurve)->predict(end);
  EXPECT_NEAR(model.scale.undo(at.mean[0]), 0.55 - 0.0025 - 0.025, 0.02);
}

// A failure says nothing about values: what was reported before it counts as of any other curve that is not finished.
TEST(CurveModel, AFailedCurveIsWhatItReported) {
  std::vector<LearningCurve> failed = eleven_curves(20);
  failed.push_back({.id = 11, .x = Vector::Constant(1, 0.95), .values = {0.1}, .fate = CurveFate::failed});
  failed.push_back({.id = 12, .x = Vector::Constant(1, 0.15), .fate = CurveFate::failed});
  std::vector<LearningCurve> open = eleven_curves(20);
  open.push_back({.id = 11, .x = Vector::Constant(1, 0.95), .values = {0.1}});
  const CurveModel model = fitted(failed);
  const CurveModel same = fitted(open);
  EXPECT_EQ(model.surrogate->rows().group, same.surrogate->rows().group);
  EXPECT_EQ(model.surrogate->rows().epoch, same.surrogate->rows().epoch);
  EXPECT_EQ(model.surrogate->y(), same.surrogate->y());
}

TEST(CurveModel, WhatIsPendingLeavesTheModelItComesFrom) {
  const CurveModel model = fitted(eleven_curves(8));
  const auto before = model.surrogate->rows().size();
  const auto with = model.surrogate->with_pending(pending_at_last_epoch(
      {{.at = {.x = Vector::Constant(1, 0.3), .group = 3, .done = 8}, .until = 12}}, kEpochs.max));
  EXPECT_EQ(with->rows().size(), before + 1);
  EXPECT_EQ(with->rows().epoch.back(), 20);
  EXPECT_EQ(model.surrogate->rows().size(), before);
}

TEST(CurveModel, EveryRegisteredSurrogateFits) {
  for (const CurveSurrogateKind& kind : curve_surrogates()) {
    const CurveModel model = fitted(eleven_curves(10), {.surrogate = kind.name});
    EXPECT_GT(model.surrogate->noise(), 0.0);
    EXPECT_TRUE(std::isfinite(model.best));
  }
  EXPECT_THROW(fitted(eleven_curves(10), {.surrogate = "none"}), LogicError);
}

}  // namespace curve_model_test
}  // namespace bapi
