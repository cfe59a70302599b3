#include "bapi/gp/log_likelihood.h"

#include <gtest/gtest.h>

#include <cmath>

#include "bapi/base/rng.h"
#include "tests/support/references.h"

namespace bapi {
namespace {

struct Case {
  Rows rows;
  Vector y;
  GpParameters parameters;
};

enum class Times { epochs, taus };

// Curves of one to four rows each, in mixed order, so that neither sorting nor sharing of points can hide a mistake.
Case random_case(TimeKind kind, SpaceKind space, double own, Times times, int d, Rng& rng) {
  const int configurations = 9;
  Matrix points(configurations, d);
  for (Eigen::Index i = 0; i < points.size(); ++i) points(i) = rng.uniform();
  const int n = 24;
  Matrix x(n, d);
  std::vector<Epoch> epochs;
  std::vector<int> groups;
  Vector tau(n);
  Case result;
  result.y.resize(n);
  for (int i = 0; i < n; ++i) {
    const int c = i < configurations ? i : rng.below(configurations);
    x.row(i) = points.row(c);
    groups.push_back(c);
    epochs.push_back(1 + rng.below(40));
    tau(i) = 0.02 + rng.uniform() * 0.98;
    result.y(i) = rng.normal();
  }
  result.rows = times == Times::epochs ? Rows::at_epochs(x, epochs, 40, groups) : Rows::at_taus(x, tau, groups);
  result.parameters.kernel.amplitude = 0.8;
  result.parameters.kernel.space = {space, Vector::LinSpaced(d, 0.4, 0.9)};
  result.parameters.kernel.time.kind = kind;
  result.parameters.kernel.time.bias = kind == TimeKind::linear ? 0.3 : 0.0;
  result.parameters.kernel.own_amplitude = own;
  result.parameters.noise = 0.05;
  return result;
}

TEST(LogLikelihood, EqualsThatOfTheModel) {
  Rng rng(1);
  for (const TimeKind kind : {TimeKind::exponential_decay, TimeKind::rbf, TimeKind::linear, TimeKind::constant}) {
    for (const double own : {0.0, 0.4}) {
      for (const Times times : {Times::epochs, Times::taus}) {
        const Case c = random_case(kind, SpaceKind::matern52, own, times, 3, rng);
        LogLikelihood likelihood(c.rows, c.y, c.parameters);
        Vector gradient;
        const double value = likelihood(log_parameters(c.parameters), gradient);
        EXPECT_NEAR(value, ExactGp(c.rows, c.y, c.parameters).log_likelihood(), 1e-9 * std::abs(value));
      }
    }
  }
}

TEST(LogLikelihood, GradientAgreesWithDifferences) {
  Rng rng(2);
  constexpr double kStep = 1e-4;
  // Fourth-order differences of a value of order 50: truncation and rounding both stay below this.
  constexpr double kAgreement = 1e-7;
  for (const TimeKind kind : {TimeKind::exponential_decay, TimeKind::rbf, TimeKind::linear, TimeKind::constant}) {
    for (const SpaceKind space : {SpaceKind::rbf, SpaceKind::matern52}) {
      for (const double own : {0.0, 0.4}) {
        for (const Times times : {Times::epochs, Times::taus}) {
          for (const PriorMean& prior :
               {PriorMean{}, PriorMean{.coefficient = 0.2}, PriorMean{.shape = MeanShape::proportional}}) {
            const Case c = random_case(kind, space, own, times, 2, rng);
            LogLikelihood likelihood(c.rows, c.y, c.parameters, prior);
            const Vector logs = log_parameters(c.parameters);
            Vector gradient;
            const double value = likelihood(logs, gradient);
            ASSERT_EQ(gradient.size(), logs.size());
            for (Eigen::Index p = 0; p < logs.size(); ++p) {
              const auto at = [&](double steps) {
                Vector moved = logs;
                moved(p) += steps * kStep;
                Vector ignored;
                return likelihood(moved, ignored);
              };
              const double difference = (8.0 * (at(1) - at(-1)) - (at(2) - at(-2))) / (12.0 * kStep);
              EXPECT_NEAR(gradient(p), difference, kAgreement * std::max(1.0, std::abs(value)))
                  << log_parameter_names(c.parameters)[p];
            }
          }
        }
      }
    }
  }
}

TEST(LogLikelihood, LogParametersAndParametersAreInverse) {
  Rng rng(3);
  const Case c = random_case(TimeKind::exponential_decay, SpaceKind::rbf, 0.4, Times::epochs, 3, rng);
  const Vector logs = log_parameters(c.parameters);
  EXPECT_LE((log_parameters(with_log_parameters(c.parameters, logs)) - logs).norm(), 1e-14);
  const std::vector<std::string> names = {
      "log_s2", "log_ell_x0", "log_ell_x1", "log_ell_x2", "log_w", "log_alpha", "log_beta", "log_own", "log_noise"};
  EXPECT_EQ(log_parameter_names(c.parameters), names);
}

TEST(LogLikelihood, WithoutDataIsZero) {
  GpParameters parameters;
  parameters.kernel.space.lengthscales = Vector::Ones(2);
  LogLikelihood likelihood(Rows::at_epochs(Matrix(0, 2), {}, 10), Vector(0), parameters);
  Vector gradient;
  EXPECT_EQ(likelihood(log_parameters(parameters), gradient), 0.0);
  EXPECT_EQ(gradient, Vector::Zero(gradient.size()));
}

}  // namespace
}  // namespace bapi
