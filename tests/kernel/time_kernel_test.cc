#include "bapi/kernel/time_kernel.h"

#include <gtest/gtest.h>

#include <cmath>

#include "bapi/base/error.h"

namespace bapi {
namespace {

std::vector<TimeKernel> kernels() {
  return {{.kind = TimeKind::exponential_decay},
          {.kind = TimeKind::rbf},
          {.kind = TimeKind::linear, .bias = 0.2},
          {.kind = TimeKind::constant}};
}

constexpr double kStep = 1e-4;

TEST(TimeKernel, PaperExponentialDecayHasAnAsymptoteOfVarianceW) {
  const TimeKernel kernel{.w = 0.4, .alpha = 1.5, .beta = 0.2};
  EXPECT_NEAR(kernel(Op::value, 0.3, Op::value, 0.5), 0.4 + std::pow(1.0 + 0.8 / 0.2, -1.5), 1e-15);
  EXPECT_NEAR(kernel(Op::value, 1e9, Op::value, 1e9), 0.4, 1e-12);
}

TEST(TimeKernel, PaperDerivativeCovariancesAgreeWithDifferences) {
  for (const TimeKernel& kernel : kernels()) {
    for (const double tau : {0.1, 0.6}) {
      for (const double tau2 : {0.2, 0.9}) {
        const auto value = [&](double a, double b) { return kernel(Op::value, a, Op::value, b); };
        const auto slope = [&](double a, double b) { return kernel(Op::slope, a, Op::value, b); };
        EXPECT_NEAR(kernel(Op::slope, tau, Op::value, tau2),
                    (value(tau + kStep, tau2) - value(tau - kStep, tau2)) / (2.0 * kStep),
                    1e-5);
        EXPECT_NEAR(kernel(Op::value, tau, Op::slope, tau2),
                    (value(tau, tau2 + kStep) - value(tau, tau2 - kStep)) / (2.0 * kStep),
                    1e-5);
        EXPECT_NEAR(kernel(Op::slope, tau, Op::slope, tau2),
                    (slope(tau, tau2 + kStep) - slope(tau, tau2 - kStep)) / (2.0 * kStep),
                    1e-4);
      }
    }
  }
}

TEST(TimeKernel, PaperRbfNeedsTheSquaresThatItsPrintLacks) {
  // In print the lengthscale of K_t and the difference in its mixed derivative stand without squares.
  const TimeKernel kernel{.kind = TimeKind::rbf, .lengthscale = 0.5};
  const double r = 0.3;
  const double k = std::exp(-r * r / (2.0 * 0.25));
  EXPECT_NEAR(kernel(Op::value, 0.7, Op::value, 0.4), k, 1e-15);
  EXPECT_NEAR(kernel(Op::slope, 0.7, Op::slope, 0.4), (1.0 - r * r / 0.25) / 0.25 * k, 1e-14);
}

TEST(TimeKernel, LogDerivativesAgreeWithDifferences) {
  for (const TimeKernel& kernel : kernels()) {
    const std::vector<double> parameters = kernel.parameters();
    for (int p = 0; p < static_cast<int>(parameters.size()); ++p) {
      const auto moved = [&](double steps) {
        std::vector<double> values = parameters;
        values[p] *= std::exp(steps * kStep);
        return kernel.with_parameters(values)(Op::value, 0.2, Op::value, 0.7);
      };
      EXPECT_NEAR(kernel.log_derivative(p, 0.2, 0.7), (moved(1) - moved(-1)) / (2.0 * kStep), 1e-7);
    }
  }
}

// The likelihood's way to many covariances at once gives what the kernel gives one by one.
TEST(TimeForm, ColumnsAndTheirDerivativesAgreeWithTheKernel) {
  const Vector taus = Vector::LinSpaced(5, 0.1, 0.9);
  const Vector weights = Vector::LinSpaced(5, -1.0, 2.0);
  for (const TimeKernel& kernel : kernels()) {
    Vector column(5);
    kernel.form().column(kernel, taus, 0.3, column);
    const auto parameters = static_cast<Eigen::Index>(kernel.parameters().size());
    Vector sums = Vector::Zero(parameters);
    kernel.form().add_derivatives(kernel, taus, 0.3, weights, sums);
    const Vector derivatives = kernel.form().derivatives(kernel, sums);
    Vector expected = Vector::Zero(parameters);
    for (Eigen::Index i = 0; i < 5; ++i) {
      EXPECT_NEAR(column(i), kernel(Op::value, taus(i), Op::value, 0.3), 1e-14);
      for (int p = 0; p < parameters; ++p) expected(p) += weights(i) * kernel.log_derivative(p, taus(i), 0.3);
    }
    EXPECT_LE((derivatives - expected).norm(), 1e-13);
  }
}

TEST(TimeTable, AgreesWithTheKernelForEveryPairOfEpochsAndOps) {
  constexpr Epoch kLast = 12;
  Rows rows;
  for (const Op op : {Op::value, Op::slope}) {
    std::vector<Epoch> epochs;
    for (Epoch e = 0; e <= kLast; ++e) epochs.push_back(e);
    rows.append(Rows::of_curve(Vector::Zero(1), epochs, kLast, 0, op));
  }
  for (const TimeKernel& kernel : kernels()) {
    const TimeTable table(kernel, kLast);
    Vector column(rows.size());
    for (Eigen::Index i = 0; i < rows.size(); ++i) {
      table.covariances(rows, 0, rows, i, column);
      for (Eigen::Index k = 0; k < rows.size(); ++k) {
        const double expected = kernel(rows.op[k], rows.tau(k), rows.op[i], rows.tau(i));
        EXPECT_NEAR(column(k), expected, 1e-13 * (1.0 + std::abs(expected)));
      }
    }
  }
}

TEST(TimeKernel, AskingForAParameterThatItDoesNotHaveIsABug) {
  EXPECT_THROW((void)TimeKernel{.kind = TimeKind::constant}.log_derivative(0, 0.1, 0.2), LogicError);
  EXPECT_THROW((void)TimeKernel{}.with_parameters({1.0}), LogicError);
}

}  // namespace
}  // namespace bapi
