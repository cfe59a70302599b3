#include "bapi/planner/conservative_stop.h"

#include <gtest/gtest.h>

#include <cmath>

#include "bapi/base/error.h"
#include "bapi/gp/monotone_gp.h"
#include "bapi/gp/slope_constraint.h"
#include "tests/support/curves.h"

namespace bapi {
namespace {

// Conservative stopping of the paper: mean(t) = 1 - exp(-t / 5), plateau at 50: 1 - exp(-10). Within 0.01 of it from
// t = 5 ln(1 / (0.01 + exp(-10))) = 23.003... on.
TEST(ConservativeStop, ReturnsTheFirstEpochWithinEpsilonOfThePlateau) {
  const auto mean = [](Epoch t) { return 1.0 - std::exp(-t / 5.0); };
  const StopRule rule{.epsilon = 0.01, .min_epoch = 1, .max_epoch = 50};
  Vector means(50);
  for (Epoch t = 1; t <= 50; ++t) means[t - 1] = mean(t);
  EXPECT_EQ(conservative_stop(mean, rule), 24);
  EXPECT_EQ(conservative_stop_by_scan(means, rule), 24);
}

TEST(ConservativeStop, KeepsItsRange) {
  const auto mean = [](Epoch t) { return static_cast<double>(t); };
  EXPECT_EQ(conservative_stop(mean, {.epsilon = 0.0, .min_epoch = 1, .max_epoch = 9}), 9);
  EXPECT_EQ(conservative_stop(mean, {.epsilon = 1e9, .min_epoch = 4, .max_epoch = 9}), 4);
  EXPECT_EQ(conservative_stop(mean, {.epsilon = 0.0, .min_epoch = 9, .max_epoch = 9}), 9);
  // Equality counts: <= epsilon.
  EXPECT_EQ(conservative_stop(mean, {.epsilon = 2.0, .min_epoch = 1, .max_epoch = 9}), 7);
}

TEST(ConservativeStop, AFlatCurveIsFinishedAtOnce) {
  EXPECT_EQ(conservative_stop([](Epoch) { return 0.3; }, {.epsilon = 0.0, .min_epoch = 1, .max_epoch = 40}), 1);
}

TEST(ConservativeStop, BisectionIsRightEvenIfNotSmallestOnAMeanThatFalls) {
  Vector means(6);
  means << 0.0, 0.9, 0.2, 0.7, 0.8, 0.85;
  const StopRule rule{.epsilon = 0.1, .min_epoch = 1, .max_epoch = 6};
  const Epoch stop = conservative_stop([&](Epoch t) { return means[t - 1]; }, rule);
  EXPECT_LE(means[5] - means[stop - 1], rule.epsilon);
  EXPECT_EQ(conservative_stop_by_scan(means, rule), 2);
}

TEST(ConservativeStop, ScanAndBisectionAgreeOnModels) {
  Rng rng(1);
  const curves::Data data = curves::simulate(8, 3, 300, rng);
  const ExactGp gp = curves::fitted(data, TimeKind::exponential_decay, rng);
  const SlopeConstraint slopes = slope_constraint(gp, 1);
  for (int i = 0; i < 10; ++i) {
    const Vector x = Vector::NullaryExpr(3, [&] { return rng.uniform(); });
    const MonotoneGp posterior(gp, Constraint::on_slopes(slopes, x, -1));
    const StopRule rule{.epsilon = 0.05, .min_epoch = 1, .max_epoch = 300};
    EXPECT_EQ(conservative_stop(posterior, x, -1, rule),
              conservative_stop_by_scan(curve_means(posterior, x, -1, 1, 300, 300), rule));
  }
}

TEST(ConservativeStop, RefusesRulesThatMakeNoSense) {
  const auto mean = [](Epoch) { return 0.0; };
  EXPECT_THROW(conservative_stop(mean, {.epsilon = -0.1, .min_epoch = 1, .max_epoch = 5}), InvalidInput);
  EXPECT_THROW(conservative_stop(mean, {.epsilon = 0.1, .min_epoch = 6, .max_epoch = 5}), InvalidInput);
}

}  // namespace
}  // namespace bapi
