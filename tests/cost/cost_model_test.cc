#include "bapi/cost/cost_model.h"

#include <gtest/gtest.h>

#include <cmath>

#include "bapi/base/error.h"

namespace bapi {
namespace {

constexpr Epoch kLast = 50;

// Curves of configurations whose rate grows with x: rate(x) = exp(1 + x_1), cost = start_up + rate * epoch, with
// multiplicative noise.
CostData curves(int configurations, double start_up, double noise, double unit, Rng& rng) {
  CostData data;
  data.x.resize(3 * configurations, 2);
  data.costs.resize(3 * configurations);
  for (int c = 0; c < configurations; ++c) {
    const Vector x = (Vector(2) << rng.uniform(), rng.uniform()).finished();
    for (int k = 0; k < 3; ++k) {
      const Eigen::Index i = 3 * c + k;
      const Epoch epoch = 2 + 5 * k + rng.below(4);
      data.x.row(i) = x.transpose();
      data.epochs.push_back(epoch);
      data.groups.push_back(c);
      data.costs(i) = unit * (start_up + std::exp(1.0 + x(0)) * epoch) * std::exp(noise * rng.normal());
    }
  }
  return data;
}

const CostForm kForms[] = {CostForm::log_rate, CostForm::linear_mean, CostForm::literal};

TEST(CostModel, PredictsTheCostOfAFullRunFromShortOnes) {
  Rng rng(1);
  for (const CostForm form : {CostForm::log_rate, CostForm::linear_mean}) {
    const CostData data = curves(15, 0.0, 0.01, 1.0, rng);
    const CostModel model = CostModel::fit(data, 2, kLast, {.form = form}, rng);
    const Matrix x = (Matrix(2, 2) << 0.3, 0.5, 0.8, 0.2).finished();
    const Vector predicted = model.until(x, {kLast, kLast});
    for (int i = 0; i < 2; ++i) EXPECT_NEAR(predicted(i) / (std::exp(1.0 + x(i, 0)) * kLast), 1.0, 0.05);
  }
}

TEST(CostModel, IncrementsAddUpToTheWhole) {
  Rng rng(2);
  const CostModel model = CostModel::fit(curves(10, 0.0, 0.02, 1.0, rng), 2, kLast, {}, rng);
  const Vector x = Vector::Constant(2, 0.4);
  EXPECT_NEAR(model.between(x, 0, 20) + model.between(x, 20, kLast), model.between(x, 0, kLast), 1e-9);
  EXPECT_EQ(model.between(x, 20, 20), 0.0);
}

TEST(CostModel, CostsArePositiveAndGrowWithEveryEpochFarFromTheData) {
  Rng rng(3);
  for (const CostForm form : kForms) {
    const CostModel model = CostModel::fit(curves(8, 0.0, 0.1, 1.0, rng), 2, kLast, {.form = form}, rng);
    const Vector far = Vector::Constant(2, 40.0);
    for (Epoch done = 0; done < kLast; done += 7) EXPECT_GT(model.between(far, done, done + 1), 0.0);
  }
}

TEST(CostModel, MeanOfALogNormalRateIsAboveItsMedian) {
  Rng rng(4);
  const CostData data = curves(4, 0.0, 0.3, 1.0, rng);
  Rng same = rng;
  const CostModel median = CostModel::fit(data, 2, kLast, {.estimate = CostEstimate::median}, rng);
  const CostModel mean = CostModel::fit(data, 2, kLast, {.estimate = CostEstimate::mean}, same);
  const Vector far = Vector::Constant(2, 9.0);
  EXPECT_GT(mean.between(far, 0, 10), median.between(far, 0, 10));
}

TEST(CostModel, FindsAStartUpCostThatTheDataShow) {
  Rng rng(5);
  const CostModel model = CostModel::fit(curves(12, 30.0, 0.002, 1.0, rng), 2, kLast, {}, rng);
  EXPECT_NEAR(model.start_up(), 30.0, 2.0);
  const Vector x = (Vector(2) << 0.5, 0.5).finished();
  EXPECT_NEAR(model.between(x, 0, kLast), 30.0 + std::exp(1.5) * kLast, 10.0);
  EXPECT_NEAR(model.between(x, 20, kLast), std::exp(1.5) * (kLast - 20), 10.0);
}

TEST(CostModel, WithoutDataEveryEpochCostsTheGivenRate) {
  Rng rng(7);
  const CostData none{.x = Matrix(0, 2), .epochs = {}, .costs = Vector(0), .groups = {}};
  for (const CostForm form : kForms) {
    const CostModel model = CostModel::fit(none, 2, kLast, {.form = form, .rate_without_data = 3.0}, rng);
    EXPECT_NEAR(model.between(Vector::Constant(2, 0.5), 0, 10), 30.0, 1e-9);
  }
}

TEST(CostModel, ExtremeUnitsAndSingleRowsStayFinite) {
  Rng rng(8);
  for (const CostForm form : kForms) {
    for (const double unit : {1e-300, 1e300}) {
      const CostModel model = CostModel::fit(curves(6, 0.0, 0.1, unit, rng), 2, kLast, {.form = form}, rng);
      const double cost = model.between(Vector::Constant(2, 0.5), 0, 10);
      EXPECT_TRUE(std::isfinite(cost)) << unit;
      EXPECT_GT(cost, 0.0);
    }
    CostData one{.x = Matrix::Constant(1, 2, 0.5), .epochs = {5}, .costs = Vector::Constant(1, 7.0), .groups = {0}};
    const CostModel model = CostModel::fit(one, 2, kLast, {.form = form}, rng);
    EXPECT_NEAR(model.between(Vector::Constant(2, 0.5), 0, 10), 14.0, 3.0);
  }
}

TEST(CostModel, ConfigurationsOfEqualCostGiveThatCostEverywhere) {
  Rng rng(9);
  CostData data = curves(6, 0.0, 0.0, 1.0, rng);
  for (Eigen::Index i = 0; i < data.costs.size(); ++i) data.costs(i) = 2.0 * data.epochs[i];
  const CostModel model = CostModel::fit(data, 2, kLast, {}, rng);
  EXPECT_NEAR(model.between(Vector::Constant(2, 0.9), 10, 20), 20.0, 1e-6);
}

TEST(CostModel, CostsThatAreNotPositiveAreRefused) {
  Rng rng(10);
  CostData data = curves(3, 0.0, 0.0, 1.0, rng);
  data.costs(1) = 0.0;
  EXPECT_THROW(CostModel::fit(data, 2, kLast, {}, rng), InvalidInput);
}

}  // namespace
}  // namespace bapi
