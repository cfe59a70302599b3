#include "bapi/model/boil_model.h"

#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "tests/support/tables.h"

namespace bapi {
namespace {

constexpr BoilModelOptions kDefaults;

// A row's curve grows with its number; epochs cost 2.
CurveTable table(Epoch epochs = 21) {
  return test::table_of(
      11, epochs, [](double x, Epoch t) { return x + 1.0 - 0.5 / t; }, [](double) { return 2.0; });
}

std::vector<LearningCurve> with_lengths(const std::vector<Epoch>& lengths, const CurveTable& from = table()) {
  std::vector<LearningCurve> curves;
  for (std::size_t row = 0; row < lengths.size(); ++row) {
    LearningCurve curve{.id = static_cast<CurveId>(row), .x = from.space.encode(from.configs[row])};
    curve.values.assign(from.runs[row].value.begin(), from.runs[row].value.begin() + lengths[row]);
    curve.cost = 2.0 * lengths[row];
    curves.push_back(std::move(curve));
  }
  return curves;
}

constexpr CurveEpochs kEpochs{.min = 1, .max = 21};

TEST(BoilData, ACurveMayHaveVirtualPointsInProportionToItsLength) {
  EXPECT_EQ(virtual_points(1.0, kDefaults), 10);
  EXPECT_EQ(virtual_points(0.55, kDefaults), 5);
  EXPECT_EQ(virtual_points(0.3, kDefaults), 3);
  EXPECT_EQ(virtual_points(0.09, kDefaults), 0);
}

// Beyond eight points a full curve is known so well that its own rows are the least certain ones again.
TEST(BoilData, EveryCurveGetsItsOwnVirtualPointsWhateverTheOthersHave) {
  EXPECT_EQ(boil_data(with_lengths({21}), kEpochs, kDefaults).t.size(), 1 + 8);
  EXPECT_EQ(boil_data(with_lengths({7}), kEpochs, kDefaults).t.size(), 1 + 3);
  EXPECT_EQ(boil_data(with_lengths({1}), kEpochs, kDefaults).t.size(), 1);
  EXPECT_EQ(boil_data(with_lengths({21}), kEpochs, {.virtual_points = 5}).t.size(), 1 + 5);
  const BoilData data = boil_data(with_lengths({21, 11, 21, 1, 21}), kEpochs, kDefaults);
  Vector rows = Vector::Zero(5);
  for (const double x : data.x.col(0)) rows[static_cast<Eigen::Index>(std::lround(10.0 * x))] += 1.0;
  for (const int i : {0, 2, 4}) EXPECT_GE(rows[i], 8.0);
  EXPECT_GE(rows[1], 4.0);
  EXPECT_EQ(rows[3], 1.0);
}

TEST(BoilData, VirtualPointsAreDifferentBeginningsOfTheCurveAtTheirShareOfItsCost) {
  const BoilData data = boil_data(with_lengths({21}), kEpochs, kDefaults);
  std::set<double> epochs;
  for (Eigen::Index i = 0; i < data.t.size(); ++i) {
    const auto length = std::ssize(data.curves[static_cast<std::size_t>(i)]);
    EXPECT_NEAR(data.t[i], static_cast<double>(length - 1) / 20.0, 1e-12);
    EXPECT_NEAR(data.costs[i], 42.0 * static_cast<double>(length) / 21.0, 1e-12);
    epochs.insert(data.t[i]);
  }
  EXPECT_EQ(std::ssize(epochs), data.t.size());
  EXPECT_EQ(data.t[0], 1.0);        // the whole curve first
  EXPECT_EQ(*epochs.begin(), 0.0);  // and the far end among the others
}

TEST(BoilData, StaysWithinItsRows) {
  const std::vector<Epoch> all(11, 21);
  EXPECT_EQ(boil_data(with_lengths(all), kEpochs, {.max_rows = 60}).t.size(), 11 * 5);
  EXPECT_EQ(boil_data(with_lengths(all), kEpochs, {.max_rows = 7}).t.size(), 7);
}

TEST(BoilData, LossesAreTurnedIntoValuesFromZero) {
  CurveTable losses = table();
  for (CurveTable::Run& run : losses.runs) {
    for (double& v : run.value) v -= 10.0;
  }
  const BoilData data = boil_data(with_lengths({21, 21}, losses), kEpochs, kDefaults);
  double lowest = 1.0;
  for (const std::span<const double> curve : data.curves) lowest = std::min(lowest, curve.front());
  EXPECT_NEAR(lowest, 0.0, 1e-12);
}

TEST(BoilLikelihood, GradientAgreesWithDifferences) {
  const BoilData data = boil_data(with_lengths({21, 11, 5, 21, 16}), kEpochs, kDefaults);
  const Vector at = Eigen::Vector4d(0.1, 0.45, 0.3, 1.2);
  const auto value = [&](const Vector& v) { return boil_likelihood(data, {v[0], v[1], {v[2], v[3]}}); };
  const Vector gradient = value(at).gradient;
  for (int i = 0; i < 4; ++i) {
    const double h = 1e-6;
    Vector up = at;
    Vector down = at;
    up[i] += h;
    down[i] -= h;
    EXPECT_NEAR(
        gradient[i], (value(up).value - value(down).value) / (2.0 * h), 1e-4 * std::max(1.0, std::abs(gradient[i])));
  }
}

TEST(BoilModel, PredictsCostsThatGrowWithTheEpochs) {
  const ScaledCost cost = fit_scaled_cost(boil_data(with_lengths({21, 11, 1, 21}), kEpochs, kDefaults));
  for (const double t : {0.0, 0.5, 1.0}) EXPECT_NEAR(cost.at(Eigen::Vector2d(0.3, t)), t, 1e-9);
}

TEST(BoilModel, GradientsOverSpaceAndTimeAgreeWithDifferences) {
  Rng rng(1);
  const BoilModel model = fit_boil(with_lengths({21, 11, 5, 21}), {}, kEpochs, kDefaults, rng);
  const Matrix xt = (Matrix(2, 2) << 0.15, 0.32, 0.7, 0.2).finished();
  const SpaceTimeMoments at = boil_gradients(model.gp, xt);
  const double h = 1e-6;
  for (Eigen::Index i = 0; i < xt.size(); ++i) {
    Matrix up = xt;
    Matrix down = xt;
    up(i) += h;
    down(i) -= h;
    const Moments above = boil_moments(model.gp, up);
    const Moments below = boil_moments(model.gp, down);
    EXPECT_NEAR(at.mean_gradient(i), (above.mean - below.mean).sum() / (2.0 * h), 1e-4);
    EXPECT_NEAR(at.variance_gradient(i), (above.variance - below.variance).sum() / (2.0 * h), 1e-4);
  }
}

TEST(BoilModel, FitsWithinItsRangesAndOnlyIfAsked) {
  const std::vector<LearningCurve> curves = with_lengths({21, 11, 5, 21});
  Rng rng(2);
  const BoilParameters fitted = fit_boil(curves, {}, kEpochs, kDefaults, rng).parameters;
  EXPECT_GE(fitted.space, 0.03);
  EXPECT_LE(fitted.space, 0.3);
  EXPECT_GE(fitted.time, 0.3);
  EXPECT_LE(fitted.time, 0.6);
  EXPECT_EQ(fit_boil(curves, {}, kEpochs, {.fit_trials = 0}, rng).parameters.space, 0.02);
}

}  // namespace
}  // namespace bapi
