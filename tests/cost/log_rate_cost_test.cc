#include "bapi/cost/log_rate_cost.h"

#include <gtest/gtest.h>

#include <cmath>

#include "bapi/base/rng.h"

namespace bapi {
namespace {

// Two rows per configuration, at epochs 3 and 20, of cost start_up + rate * epoch with multiplicative noise.
CostData pairs(int configurations, double start_up, double noise, Rng& rng) {
  CostData data;
  data.x = Matrix::Zero(2 * configurations, 1);
  data.costs.resize(2 * configurations);
  for (int i = 0; i < 2 * configurations; ++i) {
    const Epoch epoch = i % 2 == 0 ? 3 : 20;
    data.x(i, 0) = (i / 2) / static_cast<double>(configurations);
    data.epochs.push_back(epoch);
    data.groups.push_back(i / 2);
    data.costs(i) = (start_up + std::exp(data.x(i, 0)) * epoch) * std::exp(noise * rng.normal());
  }
  return data;
}

TEST(StartUpCost, IsTheInterceptThatTheCurvesShare) {
  Rng rng(1);
  EXPECT_NEAR(start_up_cost(pairs(5, 12.0, 0.0, rng)), 12.0, 1e-9);
}

TEST(StartUpCost, IsNotInventedFromNoise) {
  Rng rng(2);
  int invented = 0;
  for (int repetition = 0; repetition < 100; ++repetition) {
    invented += start_up_cost(pairs(12, 0.0, 0.05, rng)) > 0.0 ? 1 : 0;
  }
  EXPECT_LE(invented, 3);
}

TEST(StartUpCost, NeedsThreeCurvesWithTwoRows) {
  Rng rng(3);
  EXPECT_EQ(start_up_cost(pairs(2, 12.0, 0.0, rng)), 0.0);
  CostData single = pairs(6, 12.0, 0.0, rng);
  for (int i = 0; i < 12; ++i) single.groups[i] = i;
  EXPECT_EQ(start_up_cost(single), 0.0);
}

// Two configurations of ten epochs, of which the later ones cost e^drift times as much as the earlier ones.
CostData drifting(double drift) {
  CostData data{.x = Matrix(6, 1), .epochs = {}, .costs = Vector(6), .groups = {}};
  for (int i = 0; i < 2; ++i) {
    const double rate = 1.0 + i;
    const double later = rate * std::exp(drift);
    const std::vector<double> costs = {rate, 5.0 * rate, 5.0 * rate + 5.0 * later};
    const std::vector<Epoch> epochs = {1, 5, 10};
    for (int k = 0; k < 3; ++k) {
      data.x(3 * i + k, 0) = i;
      data.costs(3 * i + k) = costs[static_cast<std::size_t>(k)];
      data.epochs.push_back(epochs[static_cast<std::size_t>(k)]);
      data.groups.push_back(i);
    }
  }
  return data;
}

TEST(RateDrift, GrowsWithWhatRatesDoFromOneHalfToTheNext) {
  EXPECT_GT(rate_drift(drifting(0.0), 0.0), 0.0) << "two quiet trials promise nothing";
  EXPECT_GT(rate_drift(drifting(0.5), 0.0), rate_drift(drifting(0.2), 0.0));
  EXPECT_NEAR(rate_drift(drifting(0.5), 0.0), rate_drift(drifting(-0.5), 0.0), 1e-12);
}

TEST(RateDrift, IsNothingWhereCostsAreTheSameEverywhere) {
  CostData data = drifting(0.0);
  for (Eigen::Index i = 0; i < data.costs.size(); ++i) data.costs(i) = 2.5 * data.epochs[static_cast<std::size_t>(i)];
  EXPECT_EQ(rate_drift(data, 0.0), 0.0);
}

TEST(LastRates, TakeTheLastEpochOfEachConfiguration) {
  Rng rng(4);
  const LogRateCost::Rates rates = last_rates(pairs(3, 0.0, 0.0, rng), 0.0);
  ASSERT_EQ(rates.logs.size(), 3);
  for (int i = 0; i < 3; ++i) EXPECT_NEAR(rates.logs(i), i / 3.0, 1e-12);
}

TEST(LastRates, StayFiniteWhenTheStartUpExceedsACost) {
  Rng rng(5);
  EXPECT_TRUE(last_rates(pairs(3, 0.0, 0.0, rng), 1e9).logs.allFinite());
}

TEST(LogRateCost, StartUpIsPaidWithTheFirstEpochOnly) {
  Rng rng(6);
  GpParameters parameters;
  parameters.kernel.space.lengthscales = Vector::Ones(1);
  parameters.noise = 1e-6;
  const LogRateCost model(last_rates(pairs(4, 5.0, 0.0, rng), 5.0), parameters, 5.0);
  const Matrix x = Matrix::Zero(1, 1);
  EXPECT_NEAR(model.median_increment(x, {0}, {10})(0), 15.0, 1e-2);
  EXPECT_NEAR(model.median_increment(x, {10}, {20})(0), 10.0, 1e-2);
}

}  // namespace
}  // namespace bapi
