#include "bapi/gp/priors.h"

#include <gtest/gtest.h>

#include <cmath>

#include "bapi/base/error.h"

namespace bapi {
namespace {

TEST(Prior, DerivativeAgreesWithDifferences) {
  for (const Prior& prior :
       {Prior::log_normal(0.7, 0.5, 0.1, 5.0), Prior::gamma(3.0, 6.0, 0.01, 10.0), Prior::flat(0.1, 1.0)}) {
    for (const double log_value : {-2.0, -0.3, 0.4, 1.2}) {
      const double difference = (prior.log_density(log_value + 1e-5) - prior.log_density(log_value - 1e-5)) / 2e-5;
      EXPECT_NEAR(prior.derivative(log_value), difference, 1e-8);
    }
  }
}

TEST(Prior, DerivativeVanishesAtTheMode) {
  EXPECT_NEAR(Prior::log_normal(0.7, 0.5, 0.1, 5.0).derivative(std::log(0.7)), 0.0, 1e-15);
  const Prior gamma = Prior::gamma(3.0, 6.0, 0.01, 10.0);
  EXPECT_NEAR(gamma.derivative(gamma.log_mode()), 0.0, 1e-14);
}

TEST(Prior, ModeOutsideTheRangeIsMovedToItsEnd) {
  EXPECT_DOUBLE_EQ(Prior::log_normal(10.0, 0.5, 0.1, 5.0).log_mode(), std::log(5.0));
}

TEST(Prior, DrawsHaveTheMomentsOfTheGamma) {
  Rng rng(1);
  const Prior gamma = Prior::gamma(3.0, 6.0, 1e-9, 1e9);
  constexpr int kDraws = 50000;
  double sum = 0.0;
  double squares = 0.0;
  for (int i = 0; i < kDraws; ++i) {
    const double value = std::exp(gamma.draw_log(rng));
    sum += value;
    squares += value * value;
  }
  const double mean = sum / kDraws;
  // Mean 3/6, variance 3/36; five standard errors.
  EXPECT_NEAR(mean, 0.5, 5.0 * std::sqrt(3.0 / 36.0 / kDraws));
  EXPECT_NEAR(squares / kDraws - mean * mean, 3.0 / 36.0, 0.005);
}

TEST(Prior, DrawsStayInTheRange) {
  Rng rng(2);
  for (const Prior& prior :
       {Prior::log_normal(0.7, 3.0, 0.5, 1.0), Prior::gamma(1.1, 0.05, 0.5, 1.0), Prior::flat(0.5, 1.0)}) {
    for (int i = 0; i < 200; ++i) {
      const double value = std::exp(prior.draw_log(rng));
      EXPECT_GE(value, 0.5 - 1e-12);
      EXPECT_LE(value, 1.0 + 1e-12);
    }
  }
}

TEST(JointPrior, CoversEveryParameterOfTheKernel) {
  GpParameters structure;
  structure.kernel.space.lengthscales = Vector::Ones(4);
  EXPECT_EQ(JointPrior(HyperPriors::for_curves(), structure).size(), 1 + 4 + 3 + 1);
  structure.kernel.own_amplitude = 0.1;
  EXPECT_EQ(JointPrior(HyperPriors::for_curves(), structure).size(), 1 + 4 + 3 + 1 + 1);
  structure.kernel.time.kind = TimeKind::constant;
  EXPECT_EQ(JointPrior(HyperPriors::for_configurations(), structure).size(), 1 + 4 + 1 + 1);
}

TEST(HyperPriors, RefuseARangeThatIsNotOrdered) {
  HyperPriors priors = HyperPriors::for_curves();
  EXPECT_NO_THROW(priors.validate());
  EXPECT_NO_THROW(HyperPriors::for_configurations().validate());
  EXPECT_NO_THROW(HyperPriors::for_log_rates().validate());
  priors.noise.low = 10.0;
  EXPECT_THROW(priors.validate(), InvalidInput);
}

}  // namespace
}  // namespace bapi
