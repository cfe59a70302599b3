#include "dense_network.h"

#include <gtest/gtest.h>

#include "dueling_network.h"

namespace experiments {
namespace {

using Eigen::MatrixXd;
using Eigen::VectorXd;

MatrixXd random_matrix(int rows, int columns, Generator& generator) {
  MatrixXd matrix(rows, columns);
  for (double& value : matrix.reshaped()) value = generator.normal();
  return matrix;
}

// A loss whose gradient by the outputs is a fixed matrix.
double weighted_sum(const MatrixXd& outputs, const MatrixXd& weights) { return outputs.cwiseProduct(weights).sum(); }

constexpr double kStep = 1e-6;
constexpr double kTolerance = 1e-7;  // of central differences with this step

TEST(DenseNetwork, GradientsAreThoseOfCentralDifferences) {
  Generator generator{.state = 1};
  for (const Activation hidden : {Activation::tanh, Activation::relu}) {
    DenseNetwork network({3, 5, 4, 2}, hidden, Activation::linear, generator);
    MatrixXd inputs = random_matrix(3, 6, generator);
    const MatrixXd weights = random_matrix(2, 6, generator);
    const DenseNetwork::Gradient gradient = network.backward(network.forward(inputs), weights);
    for (Eigen::Index i = 0; i < network.parameters().size(); ++i) {
      DenseNetwork moved = network;
      moved.parameters()[i] += kStep;
      const double above = weighted_sum(moved.output(inputs), weights);
      moved.parameters()[i] -= 2.0 * kStep;
      const double below = weighted_sum(moved.output(inputs), weights);
      ASSERT_NEAR(gradient.parameters[i], (above - below) / (2.0 * kStep), kTolerance) << "parameter " << i;
    }
    for (double& input : inputs.reshaped()) {
      const double before = input;
      input = before + kStep;
      const double above = weighted_sum(network.output(inputs), weights);
      input = before - kStep;
      const double below = weighted_sum(network.output(inputs), weights);
      input = before;
      const auto place = &input - inputs.data();
      ASSERT_NEAR(gradient.inputs.reshaped()[place], (above - below) / (2.0 * kStep), kTolerance) << "input " << place;
    }
  }
}

TEST(DuelingNetwork, AdvantagesAreCentredAndGradientsAreThoseOfCentralDifferences) {
  Generator generator{.state = 2};
  DuelingNetwork network(4, 3, 8, generator);
  const MatrixXd observations = random_matrix(4, 5, generator);
  const MatrixXd weights = random_matrix(3, 5, generator);
  const DuelingNetwork::Pass pass = network.forward(observations);
  for (Eigen::Index i = 0; i < 5; ++i) EXPECT_NEAR(pass.q.col(i).mean(), pass.value.back()(0, i), 1e-12);
  const DuelingNetwork::Gradient gradient = network.backward(pass, weights);
  const auto check_part = [&](DenseNetwork DuelingNetwork::*part, const VectorXd& expected) {
    for (Eigen::Index i = 0; i < expected.size(); i += 7) {
      DuelingNetwork moved = network;
      (moved.*part).parameters()[i] += kStep;
      const double above = weighted_sum(moved.forward(observations).q, weights);
      (moved.*part).parameters()[i] -= 2.0 * kStep;
      const double below = weighted_sum(moved.forward(observations).q, weights);
      ASSERT_NEAR(expected[i], (above - below) / (2.0 * kStep), kTolerance) << "parameter " << i;
    }
  };
  check_part(&DuelingNetwork::trunk, gradient.trunk);
  check_part(&DuelingNetwork::value, gradient.value);
  check_part(&DuelingNetwork::advantage, gradient.advantage);
}

// By hand: after one step both moments are unbiased to g and g^2, so the step is rate * g / (|g| + 1e-8).
TEST(Adam, FirstTwoStepsAreThoseDoneByHand) {
  Adam adam(0.1, 2);
  VectorXd parameters = VectorXd::Zero(2);
  adam.descend(parameters, Eigen::Vector2d(2.0, -0.5));
  EXPECT_NEAR(parameters[0], -0.1, 1e-9);
  EXPECT_NEAR(parameters[1], 0.1, 1e-8);
  adam.descend(parameters, Eigen::Vector2d(1.0, -0.5));
  const double first = (0.9 * 0.1 * 2.0 + 0.1 * 1.0) / (1.0 - 0.81);
  const double second = (0.999 * 0.001 * 4.0 + 0.001 * 1.0) / (1.0 - 0.998001);
  EXPECT_NEAR(parameters[0], -0.1 - 0.1 * first / (std::sqrt(second) + 1e-8), 1e-9);
  EXPECT_NEAR(parameters[1], 0.2, 1e-7);
}

}  // namespace
}  // namespace experiments
