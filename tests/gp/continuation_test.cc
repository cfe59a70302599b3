#include "bapi/gp/continuation.h"

#include <gtest/gtest.h>

#include "bapi/base/rng.h"

namespace bapi {
namespace {

constexpr Epoch kEpochs = 20;

// Two curves of three points each, noisy.
ExactGp model() {
  Matrix x(6, 2);
  x << 0.1, 0.2, 0.1, 0.2, 0.1, 0.2, 0.7, 0.6, 0.7, 0.6, 0.7, 0.6;
  GpParameters parameters;
  parameters.kernel.space = {.kind = SpaceKind::matern52, .lengthscales = Vector::Constant(2, 0.6)};
  parameters.kernel.own_amplitude = 0.3;
  parameters.noise = 0.2;
  return ExactGp(Rows::at_epochs(x, {2, 4, 8, 2, 4, 8}, kEpochs, {0, 0, 0, 1, 1, 1}),
                 Vector{{-1.0, 0.0, 0.4, -0.5, 0.1, 0.2}},
                 parameters);
}

Rows both_curves(const std::vector<Epoch>& epochs) {
  Matrix x(2, 2);
  x << 0.1, 0.2, 0.7, 0.6;
  return Rows::at_epochs(x, epochs, kEpochs, {0, 1});
}

TEST(Continuation, IsTheJointPosteriorGivenTheValueReached) {
  const ExactGp gp = model();
  const Vector reached{{0.4, 0.2}};
  const Moments found = continuation(gp, both_curves({8, 8}), reached, 0.0, both_curves({20, 12}));
  for (int curve = 0; curve < 2; ++curve) {
    const Vector x = both_curves({1, 1}).x.row(curve).transpose();
    const Epoch then = curve == 0 ? 20 : 12;
    const JointMoments joint = gp.predict_joint(Rows::of_curve(x, {8, then}, kEpochs, curve));
    const double gain = joint.covariance(1, 0) / joint.covariance(0, 0);
    EXPECT_NEAR(found.mean[curve], joint.mean[1] + gain * (reached[curve] - joint.mean[0]), 1e-10);
    EXPECT_NEAR(found.variance[curve], joint.covariance(1, 1) - gain * joint.covariance(1, 0), 1e-10);
  }
}

TEST(Continuation, WithHalfTheNoiseIsTheObservationMadeTwice) {
  ExactGp gp = model();
  const Rows now = both_curves({8, 8}).select({0});
  const Rows end = both_curves({20, 20}).select({0});
  const Moments found = continuation(gp, now, Vector{{0.4}}, 0.5 * gp.parameters().noise, end);
  gp.append(now, Vector{{0.4}});
  const Moments twice = gp.predict(end);
  EXPECT_NEAR(found.mean[0], twice.mean[0], 1e-3);  // the prior mean is fitted anew
  EXPECT_NEAR(found.variance[0], twice.variance[0], 1e-10);
}

TEST(Continuation, WithTheNoiseOfTheModelIsItsPrediction) {
  const ExactGp gp = model();
  const Rows end = both_curves({20, 20});
  const Moments found = continuation(gp, both_curves({8, 8}), Vector{{0.4, 0.2}}, gp.parameters().noise, end);
  EXPECT_EQ(found.mean, gp.predict(end).mean);
  EXPECT_EQ(found.variance, gp.predict(end).variance);
}

TEST(Continuation, BeginsWhereTheCurveIs) {
  const Moments found = continuation(model(), both_curves({8, 8}), Vector{{0.4, 0.2}}, 0.0, both_curves({8, 8}));
  EXPECT_NEAR(found.mean[0], 0.4, 1e-9);
  EXPECT_NEAR(found.mean[1], 0.2, 1e-9);
  EXPECT_LT(found.variance.maxCoeff(), 1e-9);
}

TEST(Continuation, KnowsMoreThanTheModelAlone) {
  const ExactGp gp = model();
  const Rows end = both_curves({20, 20});
  const Moments found = continuation(gp, both_curves({8, 8}), Vector{{0.4, 0.2}}, 0.0, end);
  const Moments alone = gp.predict(end);
  EXPECT_LT(found.variance[0], alone.variance[0]);
  EXPECT_LT(found.variance[1], alone.variance[1]);
  EXPECT_GT(found.variance.minCoeff(), 0.0);
}

}  // namespace
}  // namespace bapi
