#include "bapi/gp/response.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "bapi/base/error.h"
#include "bapi/base/rng.h"

namespace bapi {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInf = std::numeric_limits<double>::infinity();

Vector vector(std::initializer_list<double> values) {
  Vector v(static_cast<Eigen::Index>(values.size()));
  std::copy(values.begin(), values.end(), v.begin());
  return v;
}

TEST(CurveResponse, RunningMaximumNeverFalls) {
  const CurveResponse response = curve_response(
      {1, 2, 3, 4, 5}, vector({0.1, 0.5, 0.3, 0.6, 0.2}), ResponseKind::running_maximum, CurveEnd::open, 10);
  EXPECT_EQ(response.values, vector({0.1, 0.5, 0.5, 0.6, 0.6}));
}

TEST(CurveResponse, DivergenceKeepsTheBestSoFar) {
  const CurveResponse response = curve_response(
      {1, 2, 3, 4, 5}, vector({kNan, -0.7, -1e34, -kInf, kNan}), ResponseKind::running_maximum, CurveEnd::open, 10);
  EXPECT_EQ(response.values, vector({-kInf, -0.7, -0.7, -0.7, -0.7}));
}

TEST(CurveResponse, RawKeepsFallingValues) {
  const CurveResponse response =
      curve_response({1, 2, 3}, vector({0.5, 0.3, kNan}), ResponseKind::raw, CurveEnd::open, 3);
  EXPECT_EQ(response.values, vector({0.5, 0.3, -kInf}));
}

TEST(CurveResponse, CurveThatEndedIsFinishedAtItsLastValue) {
  const CurveResponse ended =
      curve_response({1, 2}, vector({0.4, 0.3}), ResponseKind::running_maximum, CurveEnd::ended, 50);
  EXPECT_EQ(ended.epochs, (std::vector<Epoch>{1, 2, 50}));
  EXPECT_EQ(ended.values, vector({0.4, 0.4, 0.4}));
  const CurveResponse complete =
      curve_response({1, 50}, vector({0.4, 0.6}), ResponseKind::running_maximum, CurveEnd::ended, 50);
  EXPECT_EQ(complete.epochs, (std::vector<Epoch>{1, 50}));
  const CurveResponse open =
      curve_response({1, 2}, vector({0.4, 0.3}), ResponseKind::running_maximum, CurveEnd::open, 50);
  EXPECT_EQ(open.epochs, (std::vector<Epoch>{1, 2}));
}

TEST(ClipLevel, IsTwiceTheUpperSpreadBelowTheMedian) {
  EXPECT_NEAR(clip_level(vector({-100.0, 0.4, 0.5, 0.6, 0.7})), 0.5 - 2.0 * 0.2, 1e-15);
}

TEST(ClipLevel, NeverLiesBelowTheLowestFiniteValue) {
  EXPECT_DOUBLE_EQ(clip_level(vector({0.4, 0.5, 0.6})), 0.4);
  EXPECT_DOUBLE_EQ(clip_level(vector({0.4, 0.5, 0.6}), {.factor = kInf}), 0.4);
}

TEST(ClipLevel, TiesAtTheBestDoNotFlattenTheRest) {
  const Vector values = vector({0.2, 0.6, 0.9, 0.9, 0.9, 0.9, 0.9});
  EXPECT_LE(clip_level(values), 0.6);
}

TEST(ClipLevel, OfNothingFiniteIsZeroAndOfEqualValuesIsThatValue) {
  EXPECT_EQ(clip_level(vector({kNan, -kInf})), 0.0);
  EXPECT_EQ(clip_level(vector({3.0, 3.0, -kInf})), 3.0);
  EXPECT_EQ(clip_level(Vector(0)), 0.0);
}

TEST(Clipped, RaisesWhatIsBelowOrNotFinite) {
  EXPECT_EQ(clipped(vector({1.0, -5.0, kNan, -kInf, kInf}), 0.0), vector({1.0, 0.0, 0.0, 0.0, 0.0}));
}

TEST(Standardization, HasMeanZeroAndDeviationOneWithDivisorNMinusOne) {
  const Vector y = vector({1.0, 2.0, 4.0});
  const Standardization scale = standardization(y);
  EXPECT_NEAR(scale.mean, 7.0 / 3.0, 1e-15);
  EXPECT_NEAR(scale.scale, std::sqrt(7.0 / 3.0), 1e-15);
  const Vector s = scale.apply(y);
  EXPECT_NEAR(s.mean(), 0.0, 1e-15);
  EXPECT_NEAR(s.squaredNorm() / 2.0, 1.0, 1e-15);
  EXPECT_NEAR(scale.undo(scale.apply(3.3)), 3.3, 1e-15);
}

TEST(Standardization, ConstantOneAndNoValueHaveScaleOne) {
  EXPECT_EQ(standardization(vector({5.0, 5.0, 5.0})).scale, 1.0);
  EXPECT_EQ(standardization(vector({5.0})).scale, 1.0);
  EXPECT_EQ(standardization(vector({5.0})).mean, 5.0);
  EXPECT_EQ(standardization(Vector(0)).scale, 1.0);
}

TEST(Standardization, ExtremeScalesStayFinite) {
  for (const double unit : {1e-300, 1e-150, 1e150, 1e300}) {
    const Vector y = unit * vector({-1.0, 0.5, 1.5, 1.7});
    const Vector s = standardization(y).apply(y);
    EXPECT_TRUE(s.allFinite()) << unit;
    EXPECT_LE(s.cwiseAbs().maxCoeff(), 3.0);
  }
  const Vector extremes = vector({-1.7e308, 1.7e308});
  EXPECT_TRUE(standardization(extremes).apply(extremes).allFinite());
}

// Losses of a translation model: most runs end between 2 and 6, some explode to 1e4 .. 1e34, some to NaN.
TEST(Response, ExplodingLossesDoNotFlattenTheGoodOnes) {
  Rng rng(1);
  Vector scores(60);
  int exploded = 0;
  for (Eigen::Index i = 0; i < scores.size(); ++i) {
    const double loss = 2.0 + 4.0 * rng.uniform();
    scores(i) = -loss;
    if (i % 10 == 3) scores(i) = -std::pow(10.0, 4.0 + 30.0 * rng.uniform());
    if (i % 10 == 7) scores(i) = kNan;
    exploded += i % 10 == 3 || i % 10 == 7 ? 1 : 0;
  }
  const Response response = standardised_response(scores);
  EXPECT_TRUE(response.y.allFinite());
  EXPECT_GE(response.clipped, exploded);
  EXPECT_LE(response.clipped, exploded + 5);
  // The good runs keep their order and still span more than a standard deviation.
  double lowest = kInf;
  double highest = -kInf;
  for (Eigen::Index i = 0; i < scores.size(); ++i) {
    if (scores(i) < -10.0 || std::isnan(scores(i))) continue;
    lowest = std::min(lowest, response.y(i));
    highest = std::max(highest, response.y(i));
  }
  EXPECT_GT(highest - lowest, 1.5);
  // Without the rule they would all be the same number.
  const Vector raw = clipped(scores, -1e34);
  const Vector flattened = standardization(raw).apply(raw);
  EXPECT_LT(flattened(1) - flattened(0), 1e-20);
}

TEST(Fluctuation, IsTheVarianceAboutASmoothCourse) {
  Rng rng(5);
  double sum = 0.0;
  for (int i = 0; i < 400; ++i) {
    Vector curve(20);
    for (Eigen::Index t = 0; t < 20; ++t) curve[t] = 0.01 * static_cast<double>(t) + 0.1 * rng.normal();
    sum += *fluctuation(curve);
  }
  EXPECT_NEAR(sum / 400.0, 0.01, 0.001);
}

TEST(Fluctuation, OfAStraightCurveIsNoneAndOfAShortOneUnknown) {
  EXPECT_NEAR(fluctuation(vector({1.0, 2.0, 3.0, 4.0, 5.0})).value(), 0.0, 1e-15);
  EXPECT_FALSE(fluctuation(vector({1.0, 2.0, 3.0})).has_value());
}

TEST(Fluctuation, LooksAtTheLaterHalfOnly) {
  EXPECT_NEAR(fluctuation(vector({9.0, -9.0, 5.0, 1.0, 1.0, 1.0, 1.0, 1.0})).value(), 0.0, 1e-15);
}

TEST(BoundWarp, KeepsTheOrderIsUndoneAndStaysWithinTheBounds) {
  const Vector values = vector({0.1, 0.5, 0.9});
  for (const ScoreBounds& bounds : {ScoreBounds{.low = 0.0, .high = 1.0}, ScoreBounds{.high = 1.0}}) {
    const BoundWarp warp = bound_warp(bounds, values);
    double before = -kInf;
    for (const double y : {0.0, 1e-4, 0.3, 0.9, 0.9999, 1.0}) {
      EXPECT_GT(warp.apply(y), before);
      EXPECT_NEAR(warp.undo(warp.apply(y)), y, 1e-9);
      before = warp.apply(y);
    }
    for (const double modelled : {-1e3, -5.0, 0.0, 7.0, 1e3, kInf}) {
      EXPECT_LE(warp.undo(modelled), 1.0);
      EXPECT_GE(warp.undo(modelled), bounds.low);
    }
    for (const double at : {-4.0, -0.1, 0.2, 3.0}) {
      const double h = 1e-6;
      EXPECT_NEAR(warp.slope(at), (warp.undo(at + h) - warp.undo(at - h)) / (2.0 * h), 1e-5 * warp.slope(at));
    }
  }
}

TEST(BoundWarp, WithoutAnUpperEndLeavesValuesButForTheLowerEnd) {
  const BoundWarp warp = bound_warp({.low = 0.0}, vector({3.0, 5.0}));
  EXPECT_EQ(warp.apply(4.0), 4.0);
  EXPECT_EQ(warp.undo(4.0), 4.0);
  EXPECT_EQ(warp.undo(-1.0), 0.0);
}

TEST(BoundWarp, OfValuesAtOrBeyondTheBoundIsFinite) {
  for (const ScoreBounds& bounds : {ScoreBounds{.low = 0.0, .high = 1.0}, ScoreBounds{.high = 1.0}}) {
    const BoundWarp warp = bound_warp(bounds, vector({0.2, 1.0, 1.3, kNan}));
    for (const double y : {1.0, 1.3, 0.2}) EXPECT_TRUE(std::isfinite(warp.apply(y)));
    EXPECT_EQ(warp.apply(1.3), warp.apply(1.0));
  }
  EXPECT_EQ(bound_warp({.high = 1.0}, vector({1.0, 1.0})).margin, 0.0);
  EXPECT_EQ(bound_warp({.high = 1.0}, Vector(0)).margin, 0.0);
}

TEST(Response, OfBoundedValuesIsUndoneByItsScale) {
  const Vector values = vector({0.2, 0.5, 0.7, 0.95, 0.99});
  const BoundWarp bound = bound_warp({.low = 0.0, .high = 1.0}, values);
  const Vector opened = values.unaryExpr([&](double y) { return bound.apply(y); });
  const Response response = standardised_response(values, {.factor = kInf}, gap_warp(opened), bound);
  for (Eigen::Index i = 0; i < values.size(); ++i) {
    EXPECT_NEAR(response.scale.apply(values[i]), response.y[i], 1e-12);
    EXPECT_NEAR(response.scale.undo(response.y[i]), values[i], 1e-9);
    const double h = 1e-6;
    const double slope = (response.scale.undo(response.y[i] + h) - response.scale.undo(response.y[i] - h)) / (2.0 * h);
    EXPECT_NEAR(response.scale.slope(response.y[i]), slope, 1e-4 * slope);
  }
}

TEST(GapWarp, KeepsTheOrderAndIsUndone) {
  const GapWarp warp{.best = 0.9, .gap = 0.02};
  double before = -kInf;
  for (const double y : {-1e6, 0.1, 0.5, 0.88, 0.8999, 0.9, 0.901, 2.0}) {
    EXPECT_GT(warp.apply(y), before);
    EXPECT_NEAR(warp.undo(warp.apply(y)), y, 1e-9 * std::max(1.0, std::abs(y)));
    before = warp.apply(y);
  }
}

TEST(GapWarp, SpreadsGoodValuesAndDrawsBadOnesTogether) {
  const GapWarp warp{.best = 0.9, .gap = 0.02};
  EXPECT_GT(warp.apply(0.9) - warp.apply(0.88), warp.apply(0.5) - warp.apply(0.4));
}

TEST(GapWarp, SlopeIsTheDerivativeOfUndo) {
  const GapWarp warp{.best = -3.0, .gap = 0.5};
  for (const double at : {-6.0, -1.0, -1e-3, 1e-3, 2.0}) {
    const double h = 1e-6;
    EXPECT_NEAR(warp.slope(at), (warp.undo(at + h) - warp.undo(at - h)) / (2.0 * h), 1e-5 * warp.slope(at));
  }
}

TEST(GapWarp, TakesTheMedianDistanceOfFiniteValues) {
  const GapWarp warp = gap_warp(vector({0.5, 0.9, kNan, 0.8, 0.1, 0.7, -kInf}));
  EXPECT_EQ(warp.best, 0.9);
  EXPECT_NEAR(warp.gap, 0.2, 1e-12);
}

TEST(GapWarp, LooksBelowTiesAndLeavesEqualValuesAlone) {
  EXPECT_NEAR(gap_warp(vector({1.0, 1.0, 1.0, 0.25})).gap, 0.75, 1e-12);
  EXPECT_EQ(gap_warp(vector({1.0, 1.0})).gap, 0.0);
  EXPECT_EQ(gap_warp(vector({kNan})).gap, 0.0);
  EXPECT_EQ(gap_warp(Vector(0)).gap, 0.0);
  EXPECT_EQ(gap_warp(vector({-1.7e308, 1.7e308})).gap, 0.0);
  EXPECT_EQ(GapWarp{}.apply(0.3), 0.3);
  EXPECT_EQ(GapWarp{}.undo(0.3), 0.3);
}

TEST(Response, OfWarpedValuesIsUndoneByItsScale) {
  const Vector values = vector({0.2, 0.7, 0.88, 0.9, -50.0, kNan});
  const Response response = standardised_response(values, {.factor = kInf}, gap_warp(values));
  for (Eigen::Index i = 0; i < 5; ++i) {
    EXPECT_NEAR(response.scale.undo(response.y[i]), values[i], 1e-9 * std::max(1.0, std::abs(values[i])));
    EXPECT_NEAR(response.scale.apply(values[i]), response.y[i], 1e-12);
    const double h = 1e-6;
    EXPECT_NEAR(response.scale.slope(response.y[i] - h),
                (response.scale.undo(response.y[i]) - response.scale.undo(response.y[i] - 2.0 * h)) / (2.0 * h),
                1e-4 * response.scale.slope(response.y[i]));
  }
  EXPECT_TRUE(std::isfinite(response.y[5]));
}

TEST(Response, OnlyFailuresGiveZeros) {
  const Response response = standardised_response(vector({kNan, -kInf, kNan}));
  EXPECT_EQ(response.y, Vector::Zero(3));
  EXPECT_EQ(response.clipped, 3);
}

TEST(Response, NegativeClipFactorIsRefused) { EXPECT_THROW(clip_level(vector({1.0}), {.factor = -1.0}), InvalidInput); }

}  // namespace
}  // namespace bapi
