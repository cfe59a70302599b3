#include "dueling_network.h"

namespace experiments {
namespace {

constexpr int kTrunkUnits = 32;

}  // namespace

DuelingNetwork::DuelingNetwork(int observations, int actions, int head_units, Generator& generator)
    : trunk({observations, kTrunkUnits, kTrunkUnits}, Activation::tanh, Activation::tanh, generator),
      value({kTrunkUnits, head_units, 1}, Activation::relu, Activation::linear, generator),
      advantage({kTrunkUnits, head_units, actions}, Activation::relu, Activation::linear, generator) {}

DuelingNetwork::Pass DuelingNetwork::forward(const Eigen::MatrixXd& observations) const {
  Pass pass;
  pass.trunk = trunk.forward(observations);
  pass.value = value.forward(pass.trunk.back());
  pass.advantage = advantage.forward(pass.trunk.back());
  const Eigen::MatrixXd& a = pass.advantage.back();
  pass.q = (a.rowwise() - a.colwise().mean()).rowwise() + pass.value.back().row(0);
  return pass;
}

// dQ_a/dV = 1 and dQ_a/dA_b = [a = b] - 1/n, so the heads get the sum and the centred gradient.
DuelingNetwork::Gradient DuelingNetwork::backward(const Pass& pass, const Eigen::MatrixXd& by_q) const {
  const Eigen::MatrixXd by_value = by_q.colwise().sum();
  const Eigen::MatrixXd by_advantage = by_q.rowwise() - by_q.colwise().mean();
  DenseNetwork::Gradient of_value = value.backward(pass.value, by_value);
  DenseNetwork::Gradient of_advantage = advantage.backward(pass.advantage, by_advantage);
  DenseNetwork::Gradient of_trunk = trunk.backward(pass.trunk, of_value.inputs + of_advantage.inputs);
  return {.trunk = std::move(of_trunk.parameters),
          .value = std::move(of_value.parameters),
          .advantage = std::move(of_advantage.parameters)};
}

void DuelingNetwork::copy_parameters(const DuelingNetwork& other) {
  trunk.parameters() = other.trunk.parameters();
  value.parameters() = other.value.parameters();
  advantage.parameters() = other.advantage.parameters();
}

}  // namespace experiments
