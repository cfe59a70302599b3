#include "bapi/model/earlier_trend.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>

#include "bapi/model/curve_model.h"

namespace bapi {
namespace earlier_trend_test {

constexpr CurveEpochs kTwenty{.min = 1, .max = 20};

using Surface = std::function<double(const Vector& x)>;

// Curves of `epochs` epochs at random configurations that approach the surface.
std::vector<LearningCurve> curves_on(const Surface& surface, int count, Epoch epochs, std::uint64_t seed) {
  Rng rng(seed);
  std::vector<LearningCurve> curves;
  for (int i = 0; i < count; ++i) {
    Vector x(2);
    for (double& coordinate : x) coordinate = rng.uniform();
    LearningCurve curve{.id = i, .x = x};
    for (Epoch t = 1; t <= epochs; ++t) curve.values.push_back(surface(x) - 0.5 / t + 0.002 * rng.normal());
    curves.push_back(std::move(curve));
  }
  return curves;
}

double hill(const Vector& x) { return 1.0 - (x - Vector{{0.8, 0.3}}).squaredNorm(); }
double ripples(const Vector& x) { return 0.5 * std::sin(17.0 * x[0]) * std::cos(13.0 * x[1]); }

double weight_of(const EarlierCurves& earlier, const Surface& surface, std::uint64_t seed) {
  CurveModelOptions options;
  options.trends = {earlier_trend(earlier, kTwenty)};
  Rng rng(1);
  return CurveModel::fit(curves_on(surface, 12, 6, seed), kTwenty, options, rng)
      .surrogate->fit_summary()
      .trend_weights[0];
}

double mean_weight(const EarlierCurves& earlier, const Surface& surface) {
  double sum = 0.0;
  for (std::uint64_t seed = 10; seed < 20; ++seed) sum += weight_of(earlier, surface, seed) / 10.0;
  return sum;
}

TEST(EarlierTrend, TheSameProblemHasAWeightAndAnUnrelatedOneNearlyNone) {
  const EarlierCurves earlier{.curves = curves_on(hill, 30, 20, 1), .known = {true, true}};
  EXPECT_GT(mean_weight(earlier, hill), 0.5);
  EXPECT_LT(mean_weight(earlier, ripples), 0.1);
}

TEST(EarlierTrend, TheOppositeHasNone) {
  const EarlierCurves earlier{.curves = curves_on(hill, 30, 20, 1), .known = {true, true}};
  EXPECT_LT(mean_weight(earlier, [](const Vector& x) { return -hill(x); }), 0.05);
}

TEST(EarlierTrend, OtherUnitsOfTheMetricDoNotMatter) {
  const EarlierCurves earlier{.curves = curves_on(hill, 30, 20, 1), .known = {true, true}};
  EarlierCurves percent = earlier;
  for (LearningCurve& curve : percent.curves) {
    for (double& value : curve.values) value = 100.0 * value - 7.0;
  }
  for (std::uint64_t seed = 10; seed < 13; ++seed) {
    EXPECT_NEAR(weight_of(earlier, hill, seed), weight_of(percent, hill, seed), 0.02);
  }
}

TEST(EarlierTrend, KnowsWhereToLookBeforeTheNewStudyDoes) {
  std::vector<LearningCurve> few = curves_on(hill, 12, 2, 3);
  for (LearningCurve& curve : few) curve.x *= 0.5;  // far from the top of the hill
  for (LearningCurve& curve : few) {
    for (Epoch t = 1; t <= 2; ++t) curve.values[static_cast<std::size_t>(t - 1)] = hill(curve.x) - 0.5 / t;
  }
  const EarlierCurves earlier{.curves = curves_on(hill, 30, 20, 1), .known = {true, true}};
  const auto preference = [&](const CurveModelOptions& options) {
    Rng rng(4);
    const CurveModel model = CurveModel::fit(few, kTwenty, options, rng);
    const auto mean_at = [&](double a, double b) {
      return model.surrogate->predict(Rows::of_curve(Vector{{a, b}}, {20}, 20, kFirstNewCurve)).mean[0];
    };
    return mean_at(0.8, 0.3) - mean_at(0.1, 0.95);
  };
  CurveModelOptions warm;
  warm.trends = {earlier_trend(earlier, kTwenty)};
  EXPECT_GT(preference(warm), preference({}) + 0.2);
}

TEST(EarlierTrend, CoordinatesThatItDoesNotKnowDoNotMatter) {
  EarlierCurves earlier{.curves = curves_on([](const Vector& x) { return x[0]; }, 20, 20, 5), .known = {true, false}};
  const std::shared_ptr<const Trend> trend = earlier_trend(earlier, kTwenty);
  const Rows low = Rows::of_curve(Vector{{0.4, 0.0}}, {5, 20}, 20, 3);
  const Rows high = Rows::of_curve(Vector{{0.4, 1.0}}, {5, 20}, 20, 7);
  EXPECT_EQ(trend->values(low), trend->values(high));
  EXPECT_EQ(trend->x_gradients(low).row(1), Eigen::RowVectorXd::Zero(2));
  EXPECT_GT(trend->x_gradients(low)(0, 1), 0.0);
}

TEST(EarlierTrend, GradientsAndSlopesAgreeWithDifferences) {
  const EarlierCurves earlier{.curves = curves_on(hill, 20, 20, 6), .known = {true, true}};
  const std::shared_ptr<const Trend> trend = earlier_trend(earlier, kTwenty);
  constexpr double kStep = 1e-5;
  const Vector x{{0.42, 0.61}};
  const Rows at = Rows::of_curve(x, {3, 20}, 20, 1);
  for (Eigen::Index j = 0; j < 2; ++j) {
    Rows up = at;
    Rows down = at;
    up.x.col(j).array() += kStep;
    down.x.col(j).array() -= kStep;
    const Vector difference = (trend->values(up) - trend->values(down)) / (2.0 * kStep);
    EXPECT_LT((trend->x_gradients(at).row(j).transpose() - difference).cwiseAbs().maxCoeff(), 1e-6);
  }
  const Matrix one = x.transpose();
  // Less the common course, which is straight between epochs: between two configurations it does not count.
  const auto difference_at = [&](double tau) {
    const Vector taus = Vector::Constant(1, tau);
    return trend->values(Rows::at_taus(one, taus))[0] - trend->values(Rows::at_taus(0.5 * one, taus))[0];
  };
  const double slope = trend->values(Rows::of_curve(x, {10}, 20, 1, Op::slope))[0] -
                       trend->values(Rows::of_curve(0.5 * x, {10}, 20, 1, Op::slope))[0];
  EXPECT_NEAR(slope, (difference_at(0.5 + kStep) - difference_at(0.5 - kStep)) / (2.0 * kStep), 1e-6);
}

TEST(EarlierTrend, IsTheSameTwice) {
  const EarlierCurves earlier{.curves = curves_on(hill, 20, 20, 6), .known = {true, true}};
  const Rows at = Rows::of_curve(Vector{{0.2, 0.9}}, {1, 7, 20}, 20, 0);
  EXPECT_EQ(earlier_trend(earlier, kTwenty)->values(at), earlier_trend(earlier, kTwenty)->values(at));
}

}  // namespace earlier_trend_test
}  // namespace bapi
