#include "bapi/model/curve_forecaster.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "bapi/base/error.h"

namespace bapi {
namespace curve_forecaster_test {

constexpr Epoch kEpochs = 30;

// Saturates at 1 - (x - 0.4)^2, after about ten epochs.
double course(double x, Epoch epoch) { return (1.0 - (x - 0.4) * (x - 0.4)) * (1.0 - std::exp(-epoch / 6.0)); }

CurveData data_of(int curves, Epoch epochs) {
  CurveData data;
  data.x.resize(curves, 1);
  for (int i = 0; i < curves; ++i) {
    data.x(i, 0) = static_cast<double>(i) / (curves - 1);
    std::vector<double> curve;
    for (Epoch epoch = 1; epoch <= epochs; ++epoch) curve.push_back(course(data.x(i, 0), epoch));
    data.curves.push_back(curve);
  }
  return data;
}

Vector point(double x) { return Vector::Constant(1, x); }

TEST(CurveForecaster, PredictsAConfigurationThatWasNeverTrained) {
  const CurveForecaster model(data_of(11, kEpochs), {});
  const CurveCourse found = model.predict(point(0.55), {1, 10, 30}, 0.8);
  EXPECT_NEAR(found.mean[1], course(0.55, 10), 0.05);
  EXPECT_NEAR(found.mean[2], course(0.55, 30), 0.03);
}

TEST(CurveForecaster, ContinuesACurveThatWasBrokenOff) {
  CurveData data = data_of(11, kEpochs);
  data.curves[5].resize(8);
  const CurveForecaster model(data, {});
  const CurveCourse found = model.predict(point(0.5), {8, 30}, 0.8);
  EXPECT_NEAR(found.mean[0], course(0.5, 8), 0.03);
  EXPECT_NEAR(found.mean[1], course(0.5, 30), 0.05);
}

TEST(CurveForecaster, KnowsLessOfTheEndTheEarlierACurveWasBrokenOff) {
  double width = 0.0;
  for (const std::size_t epochs : {20u, 6u, 2u}) {
    CurveData data = data_of(11, kEpochs);
    data.curves[5].resize(epochs);
    const CurveCourse end = CurveForecaster(data, {}).predict(point(0.5), {30}, 0.8);
    EXPECT_GT(end.high[0] - end.low[0], width) << epochs;
    width = end.high[0] - end.low[0];
  }
}

TEST(CurveForecaster, BandsHoldTheMeanAndWidenWithTheirLevel) {
  const CurveForecaster model(data_of(6, kEpochs), {});
  const std::vector<Epoch> epochs = {1, 5, 20, 30};
  const CurveCourse narrow = model.predict(point(0.33), epochs, 0.5);
  const CurveCourse wide = model.predict(point(0.33), epochs, 0.95);
  for (std::size_t i = 0; i < epochs.size(); ++i) {
    EXPECT_LE(wide.low[i], narrow.low[i]);
    EXPECT_LE(narrow.low[i], narrow.mean[i]);
    EXPECT_GE(narrow.high[i], narrow.mean[i]);
    EXPECT_GE(wide.high[i], narrow.high[i]);
  }
}

TEST(CurveForecaster, MinimisingIsMaximisingTheOpposite) {
  const CurveData up = data_of(6, kEpochs);
  CurveData down = up;
  for (std::vector<double>& curve : down.curves) {
    for (double& value : curve) value = -value;
  }
  const CurveCourse a = CurveForecaster(up, {}).predict(point(0.3), {10}, 0.8);
  const CurveCourse b = CurveForecaster(down, {.goal = CurveGoal::minimize}).predict(point(0.3), {10}, 0.8);
  EXPECT_DOUBLE_EQ(a.mean[0], -b.mean[0]);
  EXPECT_DOUBLE_EQ(a.low[0], -b.high[0]);
}

TEST(CurveForecaster, ADivergedCurveDoesNotSpoilTheOthers) {
  CurveData data = data_of(11, kEpochs);
  data.curves[0][3] = std::numeric_limits<double>::quiet_NaN();
  const CurveCourse found = CurveForecaster(data, {}).predict(point(0.75), {30}, 0.8);
  EXPECT_NEAR(found.mean[0], course(0.75, 30), 0.06);
}

TEST(CurveForecaster, RefusesWhatDoesNotFitTogether) {
  EXPECT_THROW(CurveForecaster(CurveData{}, {}), InvalidInput);
  CurveData data = data_of(3, 5);
  EXPECT_THROW(CurveForecaster(data, {.max_epoch = 4}), InvalidInput);
  const CurveForecaster model(data, {.max_epoch = 10});
  EXPECT_THROW(model.predict(point(0.5), {11}, 0.8), InvalidInput);
  EXPECT_THROW(model.predict(point(0.5), {1}, 1.0), InvalidInput);
  EXPECT_THROW(model.predict(Vector::Zero(2), {1}, 0.8), InvalidInput);
  data.curves.pop_back();
  EXPECT_THROW(CurveForecaster(data, {}), InvalidInput);
}

}  // namespace curve_forecaster_test
}  // namespace bapi
