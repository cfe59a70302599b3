#include "bapi/model/failure_model.h"

#include <gtest/gtest.h>

#include <cmath>

#include "bapi/base/rng.h"

namespace bapi {
namespace {

constexpr Epoch kLast = 50;

TrainingOutcome success(Vector x) { return {.x = std::move(x), .epoch = kLast}; }
TrainingOutcome failure(Vector x, Epoch epoch = 1) { return {.x = std::move(x), .failed = true, .epoch = epoch}; }

Vector random_point(Rng& rng, int d) {
  Vector x(d);
  for (double& u : x) u = rng.uniform();
  return x;
}

double probability(const std::vector<TrainingOutcome>& outcomes, const Vector& x) {
  return FailureModel(outcomes).success(x);
}

TEST(FailureModel, WithoutAFailureEverythingIsCertain) {
  const FailureModel model({success(Vector{{0.2, 0.8}}), success(Vector{{0.5, 0.5}})});
  EXPECT_FALSE(model.any());
  EXPECT_FALSE(model.factor());
  EXPECT_EQ(model.log_factors(Matrix::Random(2, 7)), Vector::Zero(7));
  EXPECT_EQ(model.success(Vector{{0.3, 0.3}}), 1.0);
}

TEST(FailureModel, OneFailureIsBadLuck) {
  const Vector x{{0.4, 0.6, 0.5}};
  EXPECT_GT(probability({failure(x)}, x), 0.5) << "nothing else is known";

  Rng rng(1);
  std::vector<TrainingOutcome> outcomes = {failure(x)};
  for (int i = 0; i < 5; ++i) outcomes.push_back(success(random_point(rng, 3)));
  const double alone = probability(outcomes, x);
  EXPECT_GT(alone, 0.5);
  outcomes.push_back(success(x + Vector{{0.02, -0.01, 0.03}}));
  EXPECT_GT(probability(outcomes, x), 0.9) << "a success beside it";
}

TEST(FailureModel, RandomFailuresAmidSuccessesCloseNothing) {
  for (const double rate : {0.05, 0.3}) {
    Rng rng(2);
    std::vector<TrainingOutcome> outcomes;
    for (int i = 0; i < 100; ++i) {
      Vector x = random_point(rng, 2);
      outcomes.push_back(rng.uniform() < rate ? failure(x) : success(x));
    }
    const FailureModel model(outcomes);
    int closed = 0;
    for (int i = 0; i < 200; ++i) closed += model.success(random_point(rng, 2)) < 0.5 ? 1 : 0;
    EXPECT_LE(closed, rate < 0.1 ? 2 : 40) << rate;  // a fifth, where three times as many fail as by bad luck
  }
}

// Configurations fail where one coordinate is large. The side is closed as a whole, far from all failures seen.
TEST(FailureModel, LearnsWhichSideOfACoordinateFails) {
  Rng rng(3);
  std::vector<TrainingOutcome> outcomes;
  int failures = 0;
  while (failures < 5) {
    Vector x = random_point(rng, 4);
    failures += x[1] > 0.7 ? 1 : 0;
    outcomes.push_back(x[1] > 0.7 ? failure(x) : success(x));
  }
  const FailureModel model(outcomes);
  int open = 0;
  int closed = 0;
  int of_each = 0;
  for (int i = 0; i < 200; ++i) {
    Vector x = random_point(rng, 4);
    x[1] = 0.8 + 0.2 * x[1];
    closed += model.success(x) < 0.5 ? 1 : 0;
    x[1] = 0.5 * (x[1] - 0.8) / 0.2;
    open += model.success(x) > 0.5 ? 1 : 0;
    ++of_each;
  }
  EXPECT_GT(closed, 9 * of_each / 10);
  EXPECT_GT(open, 9 * of_each / 10);
}

// What is likelier to fail than to succeed comes after everything else, however much it promises.
TEST(FailureModel, WhatProbablyFailsComesLast) {
  std::vector<TrainingOutcome> outcomes;
  for (const double u : {0.80, 0.85, 0.90, 0.95}) outcomes.push_back(failure(Vector{{u}}));
  for (const double u : {0.10, 0.30, 0.50}) outcomes.push_back(success(Vector{{u}}));
  const FailureModel model(outcomes);
  const Vector logs = model.log_factors(Matrix{{0.2, 0.9, 0.99}});
  EXPECT_NEAR(logs[0], std::log(model.success(Vector{{0.2}})), 1e-12);
  // The improvement of a forecast that is a thousand standard deviations worse than the best value: curves that stay
  // flat, with little noise, have nothing better to offer.
  const double hopeless = -0.5 * 1000.0 * 1000.0;
  EXPECT_LT(logs[1], hopeless);
  EXPECT_LT(logs[2], hopeless);
  EXPECT_GT(model.success(Vector{{0.9}}), 0.0);
}

// Where a side begins, somewhere between 0.5 and 0.8, is not found by failing half of the time.
TEST(FailureModel, NextToASideThatFailsSuccessMustBeLikely) {
  std::vector<TrainingOutcome> outcomes;
  for (const double u : {0.80, 0.85, 0.90, 0.95}) outcomes.push_back(failure(Vector{{u}}));
  for (const double u : {0.10, 0.30, 0.50}) outcomes.push_back(success(Vector{{u}}));
  const FailureModel model(outcomes);
  const Vector logs = model.log_factors(Matrix{{0.54, 0.60}});
  EXPECT_GT(logs[0], -1.0);
  EXPECT_GT(model.success(Vector{{0.60}}), 0.5);
  EXPECT_LT(logs[1], -1000.0);
}

// An option of a choice that does not work: its coordinate is 0 or 1.
TEST(FailureModel, LearnsAnOptionThatFails) {
  Rng rng(4);
  std::vector<TrainingOutcome> outcomes;
  for (int i = 0; i < 12; ++i) {
    const bool option = i % 3 == 0;
    const Vector x{{option ? 1.0 : 0.0, option ? 0.0 : 1.0, rng.uniform()}};
    outcomes.push_back(option ? failure(x) : success(x));
  }
  EXPECT_LT(probability(outcomes, Vector{{1.0, 0.0, 0.5}}), 0.1);
  EXPECT_GT(probability(outcomes, Vector{{0.0, 1.0, 0.5}}), 0.9);
}

// A region that no side describes: failures in the middle, successes all around.
TEST(FailureModel, LearnsANeighbourhoodThatFails) {
  std::vector<TrainingOutcome> outcomes;
  for (const double u : {0.05, 0.95}) {
    for (const double v : {0.05, 0.5, 0.95}) {
      outcomes.push_back(success(Vector{{u, v}}));
      outcomes.push_back(success(Vector{{v, u}}));
    }
  }
  const Vector middle{{0.5, 0.5}};
  double before = 1.0;
  for (int i = 0; i < 5; ++i) {
    outcomes.push_back(failure(middle + 0.08 * Vector{{std::cos(i), std::sin(i)}}));
    const double now = probability(outcomes, middle);
    EXPECT_LT(now, before) << i;
    before = now;
  }
  EXPECT_LT(before, 0.1);
  EXPECT_GT(probability(outcomes, Vector{{0.05, 0.5}}), 0.6);
}

// Where trainings break down late, a few epochs without a failure say nothing.
TEST(FailureModel, EarlyEpochsDoNotSpeakAgainstLateFailures) {
  const Vector x{{0.5}};
  std::vector<TrainingOutcome> outcomes = {failure(x, 30), failure(Vector{{0.45}}, 30), failure(Vector{{0.55}}, 30)};
  const double before = probability(outcomes, x);
  outcomes.push_back({.x = x, .epoch = 5});
  EXPECT_EQ(probability(outcomes, x), before);
  outcomes.back().epoch = 30;
  EXPECT_GT(probability(outcomes, x), 3.0 * before);
}

TEST(FailureModel, GradientsAgreeWithDifferences) {
  Rng rng(5);
  std::vector<TrainingOutcome> outcomes;
  for (int i = 0; i < 20; ++i) {
    Vector x = random_point(rng, 3);
    const bool failed = x[0] > 0.6 && x[2] < 0.7;
    outcomes.push_back(failed ? failure(x) : success(x));
  }
  const FailureModel model(outcomes);
  ASSERT_TRUE(model.any());
  constexpr double kStep = 1e-7;
  for (int i = 0; i < 20; ++i) {
    const Vector x = random_point(rng, 3);
    Vector value;
    Matrix gradient;
    model.log_factors(x, value, gradient);
    for (Eigen::Index j = 0; j < 3; ++j) {
      Vector up = x;
      Vector down = x;
      up[j] += kStep;
      down[j] -= kStep;
      const double slope = (std::log(model.success(up)) - std::log(model.success(down))) / (2.0 * kStep);
      EXPECT_NEAR(gradient(j, 0), slope, 1e-5 * std::max(1.0, std::abs(slope))) << x.transpose() << ", " << j;
    }
  }
}

TEST(FailureModel, ThousandsOfFailuresDoNotOverflow) {
  Rng rng(6);
  std::vector<TrainingOutcome> outcomes;
  for (int i = 0; i < 2000; ++i) outcomes.push_back(failure(random_point(rng, 2)));
  outcomes.push_back(success(Vector{{0.01, 0.01}}));
  const FailureModel model(outcomes);
  const Vector logs = model.log_factors(Matrix{{0.01, 0.9}, {0.01, 0.9}});
  EXPECT_FALSE(std::isnan(logs[0]));
  EXPECT_FALSE(std::isnan(logs[1]));
  EXPECT_GT(logs[0], logs[1]);
}

}  // namespace
}  // namespace bapi
