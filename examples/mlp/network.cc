#include "network.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "bapi/base/rng.h"

namespace mlp {
namespace {

using bapi::Rng;
using Eigen::MatrixXd;

// Activations behind each layer, for one batch; columns are points.
struct Forward {
  MatrixXd first;
  MatrixXd second;
  MatrixXd logits;
};

Layer random_layer(int inputs, int outputs, Rng& rng) {
  Layer layer{.weights = MatrixXd(outputs, inputs), .bias = Eigen::VectorXd::Zero(outputs)};
  const double scale = std::sqrt(2.0 / inputs);  // keeps the variance of rectified units
  for (int column = 0; column < inputs; ++column) {
    for (int row = 0; row < outputs; ++row) layer.weights(row, column) = scale * rng.normal();
  }
  return layer;
}

Layer zero_like(const Layer& layer) {
  return {.weights = MatrixXd::Zero(layer.weights.rows(), layer.weights.cols()),
          .bias = Eigen::VectorXd::Zero(layer.bias.size())};
}

MatrixXd affine(const Layer& layer, const MatrixXd& inputs) {
  MatrixXd outputs = layer.weights * inputs;
  outputs.colwise() += layer.bias;
  return outputs;
}

Forward forward(const Network& network, const MatrixXd& inputs) {
  Forward pass;
  pass.first = affine(network[0], inputs).cwiseMax(0.0);
  pass.second = affine(network[1], pass.first).cwiseMax(0.0);
  pass.logits = affine(network[2], pass.second);
  return pass;
}

// Probabilities of the classes, column by column.
MatrixXd softmax(const MatrixXd& logits) {
  const Eigen::RowVectorXd largest = logits.colwise().maxCoeff();
  MatrixXd scores = (logits.rowwise() - largest).array().exp().matrix();
  const Eigen::RowVectorXd sums = scores.colwise().sum();
  scores.array().rowwise() /= sums.array();
  return scores;
}

// Derivative of the mean cross-entropy by the logits.
MatrixXd output_error(const MatrixXd& logits, const std::vector<int>& labels, const int* order) {
  MatrixXd error = softmax(logits);
  for (Eigen::Index i = 0; i < error.cols(); ++i) error(labels[static_cast<std::size_t>(order[i])], i) -= 1.0;
  return error / static_cast<double>(error.cols());
}

void descend(Layer& layer, Layer& velocity, const MatrixXd& error, const MatrixXd& inputs, const Hyperparameters& h) {
  velocity.weights =
      h.momentum * velocity.weights - h.lr * (error * inputs.transpose() + h.weight_decay * layer.weights);
  velocity.bias = h.momentum * velocity.bias - h.lr * error.rowwise().sum();
  layer.weights += velocity.weights;
  layer.bias += velocity.bias;
}

// The error behind a layer, carried through its weights and the rectifier before it.
MatrixXd backward(const Layer& layer, const MatrixXd& error, const MatrixXd& activation) {
  return (activation.array() > 0.0).select(layer.weights.transpose() * error, 0.0);
}

void train_batch(
    State& state, const MatrixXd& inputs, const std::vector<int>& labels, const int* order, const Hyperparameters& h) {
  const Forward pass = forward(state.network, inputs);
  const MatrixXd third = output_error(pass.logits, labels, order);
  const MatrixXd second = backward(state.network[2], third, pass.second);
  const MatrixXd first = backward(state.network[1], second, pass.first);
  descend(state.network[2], state.velocity[2], third, pass.second, h);
  descend(state.network[1], state.velocity[1], second, pass.first, h);
  descend(state.network[0], state.velocity[0], first, inputs, h);
}

std::vector<int> shuffled(int n, std::uint64_t seed, int epoch) {
  Rng rng = Rng(seed).fork("shuffle", static_cast<std::uint64_t>(epoch));
  std::vector<int> order(static_cast<std::size_t>(n));
  std::iota(order.begin(), order.end(), 0);
  for (int i = n - 1; i > 0; --i) {
    std::swap(order[static_cast<std::size_t>(i)], order[static_cast<std::size_t>(rng.below(i + 1))]);
  }
  return order;
}

}  // namespace

State initial_state(const Data& data, const Hyperparameters& hyperparameters, std::uint64_t seed) {
  Rng rng = Rng(seed).fork("weights");
  const int inputs = static_cast<int>(data.training.inputs.rows());
  const int units = hyperparameters.units;
  State state;
  state.network = {
      random_layer(inputs, units, rng), random_layer(units, units, rng), random_layer(units, data.classes, rng)};
  for (std::size_t i = 0; i < state.network.size(); ++i) state.velocity[i] = zero_like(state.network[i]);
  return state;
}

void train_epoch(
    State& state, const Samples& data, const Hyperparameters& hyperparameters, std::uint64_t seed, int epoch) {
  const int n = static_cast<int>(data.labels.size());
  const std::vector<int> order = shuffled(n, seed, epoch);
  MatrixXd batch;
  for (int begin = 0; begin < n; begin += hyperparameters.batch_size) {
    const int size = std::min(hyperparameters.batch_size, n - begin);
    batch.resize(data.inputs.rows(), size);
    for (int i = 0; i < size; ++i) batch.col(i) = data.inputs.col(order[static_cast<std::size_t>(begin + i)]);
    train_batch(state, batch, data.labels, order.data() + begin, hyperparameters);
  }
}

Score evaluate(const Network& network, const Samples& data) {
  const MatrixXd probabilities = softmax(forward(network, data.inputs).logits);
  constexpr double kFloor = 1e-12;  // a class that is ruled out costs much, but not infinitely much
  Score score;
  for (Eigen::Index i = 0; i < probabilities.cols(); ++i) {
    const int label = data.labels[static_cast<std::size_t>(i)];
    Eigen::Index guess = 0;
    probabilities.col(i).maxCoeff(&guess);
    score.accuracy += guess == label ? 1.0 : 0.0;
    score.loss -= std::log(std::max(kFloor, probabilities(label, i)));
  }
  const auto n = static_cast<double>(probabilities.cols());
  return {.accuracy = score.accuracy / n, .loss = score.loss / n};
}

}  // namespace mlp
