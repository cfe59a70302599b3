#include "dense_network.h"

#include <cmath>

namespace experiments {
namespace {

using Eigen::Map;
using Eigen::MatrixXd;
using Eigen::VectorXd;

void activate(MatrixXd& values, Activation activation) {
  if (activation == Activation::tanh) values = values.array().tanh().matrix();
  if (activation == Activation::relu) values = values.cwiseMax(0.0);
}

// The gradient by the sums of a layer, from that by its outputs: tanh' = 1 - tanh^2, relu' = 1 where it let through.
MatrixXd through(const MatrixXd& gradient, const MatrixXd& outputs, Activation activation) {
  switch (activation) {
    case Activation::tanh:
      return (gradient.array() * (1.0 - outputs.array().square())).matrix();
    case Activation::relu:
      return (outputs.array() > 0.0).select(gradient, 0.0);
    case Activation::linear:
      break;
  }
  return gradient;
}

}  // namespace

DenseNetwork::DenseNetwork(std::vector<int> sizes, Activation hidden, Activation output, Generator& generator) {
  Eigen::Index count = 0;
  for (std::size_t i = 0; i + 1 < sizes.size(); ++i) {
    layers_.push_back({.inputs = sizes[i],
                       .outputs = sizes[i + 1],
                       .offset = count,
                       .activation = i + 2 == sizes.size() ? output : hidden});
    count += (layers_.back().inputs + 1) * layers_.back().outputs;
  }
  parameters_ = VectorXd::Zero(count);
  for (const Layer& layer : layers_) {
    const double bound = std::sqrt(6.0 / static_cast<double>(layer.inputs + layer.outputs));
    for (double& weight : parameters_.segment(layer.offset, layer.inputs * layer.outputs)) {
      weight = generator.uniform(-bound, bound);
    }
  }
}

DenseNetwork::Pass DenseNetwork::forward(const MatrixXd& inputs) const {
  Pass pass = {inputs};
  for (const Layer& layer : layers_) {
    const Map<const MatrixXd> weights(parameters_.data() + layer.offset, layer.outputs, layer.inputs);
    const Map<const VectorXd> bias(weights.data() + weights.size(), layer.outputs);
    MatrixXd sums = (weights * pass.back()).colwise() + bias;
    activate(sums, layer.activation);
    pass.push_back(std::move(sums));
  }
  return pass;
}

DenseNetwork::Gradient DenseNetwork::backward(const Pass& pass, const MatrixXd& output_gradient) const {
  Gradient gradient{.parameters = VectorXd(parameters_.size()), .inputs = output_gradient};
  for (std::size_t i = layers_.size(); i-- > 0;) {
    const Layer& layer = layers_[i];
    const MatrixXd sums = through(gradient.inputs, pass[i + 1], layer.activation);
    const Map<const MatrixXd> weights(parameters_.data() + layer.offset, layer.outputs, layer.inputs);
    Map<MatrixXd> by_weights(gradient.parameters.data() + layer.offset, layer.outputs, layer.inputs);
    Map<VectorXd> by_bias(by_weights.data() + by_weights.size(), layer.outputs);
    by_weights.noalias() = sums * pass[i].transpose();
    by_bias = sums.rowwise().sum();
    gradient.inputs = weights.transpose() * sums;
  }
  return gradient;
}

void Adam::descend(VectorXd& parameters, const VectorXd& gradient) {
  constexpr double kFirst = 0.9;
  constexpr double kSecond = 0.999;
  constexpr double kEpsilon = 1e-8;
  steps += 1.0;
  first_moment = kFirst * first_moment + (1.0 - kFirst) * gradient;
  second_moment = kSecond * second_moment + (1.0 - kSecond) * gradient.cwiseAbs2();
  const double first_scale = 1.0 / (1.0 - std::pow(kFirst, steps));
  const double second_scale = 1.0 / (1.0 - std::pow(kSecond, steps));
  parameters.array() -=
      rate * first_scale * first_moment.array() / ((second_scale * second_moment.array()).sqrt() + kEpsilon);
}

}  // namespace experiments
