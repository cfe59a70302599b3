#include "bapi/gp/trend.h"

#include <gtest/gtest.h>

#include <cmath>

#include "bapi/base/rng.h"
#include "bapi/gp/exact_gp.h"
#include "bapi/gp/log_likelihood.h"
#include "bapi/gp/trend_prior.h"

namespace bapi {
namespace trend_test {

// sin(3 x0) (1 - exp(-tau)), whatever x1 is.
class Sine final : public Trend {
 public:
  Vector values(const Rows& rows) const override {
    Vector values(rows.size());
    for (Eigen::Index i = 0; i < rows.size(); ++i) {
      const bool slope = rows.op[static_cast<std::size_t>(i)] == Op::slope;
      values[i] = std::sin(3.0 * rows.x(i, 0)) * (slope ? std::exp(-rows.tau[i]) : 1.0 - std::exp(-rows.tau[i]));
    }
    return values;
  }
  Matrix x_gradients(const Rows& rows) const override {
    Matrix gradients = Matrix::Zero(rows.dim(), rows.size());
    for (Eigen::Index i = 0; i < rows.size(); ++i) {
      gradients(0, i) = 3.0 * std::cos(3.0 * rows.x(i, 0)) * (1.0 - std::exp(-rows.tau[i]));
    }
    return gradients;
  }
};

// Minus x1.
class Slope final : public Trend {
 public:
  Vector values(const Rows& rows) const override { return -rows.x.col(1); }
  Matrix x_gradients(const Rows& rows) const override {
    Matrix gradients = Matrix::Zero(rows.dim(), rows.size());
    gradients.row(1).setConstant(-1.0);
    return gradients;
  }
};

Rows random_rows(int n, Rng& rng) {
  Matrix x(n, 2);
  for (Eigen::Index i = 0; i < x.size(); ++i) x(i) = rng.uniform();
  std::vector<Epoch> epochs;
  std::vector<CurveId> groups;
  for (int i = 0; i < n; ++i) {
    epochs.push_back(1 + rng.below(20));
    groups.push_back(i);
  }
  return Rows::at_epochs(std::move(x), epochs, 20, groups);
}

GpParameters parameters() {
  GpParameters parameters;
  parameters.kernel.space.lengthscales = Vector::Constant(2, 0.5);
  parameters.kernel.amplitude = 0.1;
  parameters.kernel.own_amplitude = 0.05;
  parameters.noise = 0.01;
  return parameters;
}

Vector noise(Eigen::Index n, Rng& rng) {
  Vector draws(n);
  for (double& each : draws) each = rng.normal();
  return draws;
}

TEST(TrendWeights, MinimiseTheirConvexFunctionAmongThoseThatAreNotNegative) {
  Rng rng(1);
  for (int round = 0; round < 50; ++round) {
    Matrix trends(12, 3);
    for (Eigen::Index i = 0; i < trends.size(); ++i) trends(i) = rng.normal();
    trends.col(2) = 0.9 * trends.col(1) + 0.2 * trends.col(2);
    const Vector target = noise(12, rng);
    const double sd = 0.5;
    const auto value = [&](const Vector& w) {
      return 0.5 * (target - trends * w).squaredNorm() - trend_log_prior(w, sd);
    };
    const Vector weights = trend_weights(trends, target, sd);
    ASSERT_GE(weights.minCoeff(), 0.0);
    for (int k = 0; k < 3; ++k) {
      for (const double step : {-1e-4, 1e-4}) {
        Vector moved = weights;
        moved[k] = std::max(0.0, moved[k] + step);
        EXPECT_GE(value(moved), value(weights));
      }
    }
  }
}

TEST(TrendWeights, AreZeroForWhatExplainsNothingOrTheOpposite) {
  const Matrix trends{{1.0, 0.0}, {0.0, 1.0}, {0.0, 0.0}};
  const Vector weights = trend_weights(trends, Vector{{-2.0, 0.0, 1.0}}, 0.5);
  EXPECT_EQ(weights, Vector::Zero(2));
}

TEST(TrendWeights, OfOneTrendAreShrunkByThePrior) {
  const Matrix trends{{3.0}, {4.0}};
  EXPECT_NEAR(trend_weights(trends, Vector{{3.0, 4.0}}, 0.5)[0], (25.0 - kTrendRate) / 29.0, 1e-15);
}

TEST(TrendOfAModel, DataThatFollowItGetItsWeightBackAndOthersDoNot) {
  Rng rng(2);
  const Rows rows = random_rows(60, rng);
  const PriorMean prior{.trends = {std::make_shared<Sine>(), std::make_shared<Slope>()}};
  const Vector y = (0.3 + 0.8 * Sine().values(rows).array()).matrix() + 0.05 * noise(60, rng);
  const ExactGp gp(rows, y, parameters(), prior);
  // The prior prefers no weight, and the process could explain a sine by itself.
  EXPECT_GT(gp.trend_weights()[0], 0.35);
  EXPECT_LT(gp.trend_weights()[1], 0.1);
}

TEST(TrendOfAModel, ExtrapolatesWhereThereAreNoData) {
  Rng rng(3);
  Rows rows = random_rows(60, rng);
  rows.x.col(0) *= 0.3;
  const auto sine = std::make_shared<Sine>();
  const Vector y = 1.2 * sine->values(rows) + 0.01 * noise(60, rng);
  const Rows far = Rows::of_curve(Vector{{1.0, 0.5}}, {20}, 20, 100);
  const double truth = 1.2 * sine->values(far)[0];
  GpParameters shortsighted = parameters();
  shortsighted.kernel.space.lengthscales.setConstant(0.15);
  const double with = ExactGp(rows, y, shortsighted, {.trends = {sine}}).predict(far).mean[0];
  const double without = ExactGp(rows, y, shortsighted).predict(far).mean[0];
  EXPECT_LT(std::abs(with - truth), 0.6 * std::abs(without - truth));
}

TEST(TrendOfAModel, PredictsItsDataAndIsExactForDataWithoutNoise) {
  Rng rng(4);
  const Rows rows = random_rows(20, rng);
  GpParameters exact = parameters();
  exact.noise = 1e-9;
  const Vector y = noise(20, rng);
  const ExactGp gp(rows, y, exact, {.trends = {std::make_shared<Sine>()}});
  EXPECT_LT((gp.predict(rows).mean - y).cwiseAbs().maxCoeff(), 1e-5);
}

TEST(TrendOfAModel, GradientsOfPredictionsAgreeWithDifferences) {
  Rng rng(5);
  const Rows rows = random_rows(30, rng);
  const Vector y = Sine().values(rows) + 0.1 * noise(30, rng);
  const ExactGp gp(rows, y, parameters(), {.trends = {std::make_shared<Sine>(), std::make_shared<Slope>()}});
  const Rows query = random_rows(5, rng);
  const MomentGradients at = gp.predict_with_gradients(query);
  for (Eigen::Index j = 0; j < 2; ++j) {
    constexpr double kStep = 1e-5;
    Rows up = query;
    Rows down = query;
    up.x.col(j).array() += kStep;
    down.x.col(j).array() -= kStep;
    const Vector difference = (gp.predict(up).mean - gp.predict(down).mean) / (2.0 * kStep);
    EXPECT_LT((at.mean.row(j).transpose() - difference).cwiseAbs().maxCoeff(), 1e-6);
  }
}

TEST(TrendOfAModel, TheGradientOfItsLikelihoodAgreesWithDifferences) {
  Rng rng(6);
  const Rows rows = random_rows(25, rng);
  const Vector y = 0.7 * Sine().values(rows) + 0.3 * noise(25, rng);
  for (const PriorMean& prior : {PriorMean{.trends = {std::make_shared<Sine>(), std::make_shared<Slope>()}},
                                 PriorMean{.coefficient = 0.0, .trends = {std::make_shared<Sine>()}},
                                 PriorMean{.shape = MeanShape::proportional, .trends = {std::make_shared<Sine>()}}}) {
    LogLikelihood likelihood(rows, y, parameters(), prior);
    const Vector logs = log_parameters(parameters());
    Vector gradient;
    const double value = likelihood(logs, gradient);
    const ExactGp gp(rows, y, parameters(), prior);
    const double log_prior = trend_log_prior(gp.trend_weights(), prior.trend_sd);
    EXPECT_NEAR(value, gp.log_likelihood() + log_prior, 1e-9 * std::abs(value));
    for (Eigen::Index p = 0; p < logs.size(); ++p) {
      constexpr double kStep = 1e-4;
      const auto at = [&](double steps) {
        Vector moved = logs;
        moved[p] += steps * kStep;
        Vector ignored;
        return likelihood(moved, ignored);
      };
      const double difference = (8.0 * (at(1) - at(-1)) - (at(2) - at(-2))) / (12.0 * kStep);
      EXPECT_NEAR(gradient[p], difference, 1e-6 * std::max(1.0, std::abs(value)));
    }
  }
}

}  // namespace trend_test
}  // namespace bapi
