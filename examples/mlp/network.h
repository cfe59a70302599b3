#pragma once

#include <Eigen/Core>
#include <array>
#include <cstdint>

#include "data.h"

namespace mlp {

struct Hyperparameters {
  double lr = 0.05;
  double momentum = 0.9;
  double weight_decay = 1e-5;
  int units = 64;  // in each of the two hidden layers
  int batch_size = 32;
};

struct Layer {
  Eigen::MatrixXd weights;  // outputs x inputs
  Eigen::VectorXd bias;
};

// Input, two hidden layers of rectified units, one output per class.
using Network = std::array<Layer, 3>;

// Everything that training changes: weights, and the velocities of momentum.
struct State {
  Network network;
  Network velocity;
};

struct Score {
  double accuracy = 0.0;
  double loss = 0.0;  // mean cross-entropy
};

State initial_state(const Data& data, const Hyperparameters& hyperparameters, std::uint64_t seed);

// One pass of stochastic gradient descent over the training data, in an order that depends on seed and epoch alone, so
// that a run continued from a state equals one that was never interrupted.
void train_epoch(
    State& state, const Samples& data, const Hyperparameters& hyperparameters, std::uint64_t seed, int epoch);

Score evaluate(const Network& network, const Samples& data);

}  // namespace mlp
