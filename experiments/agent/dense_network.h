#pragma once

#include <Eigen/Core>
#include <vector>

#include "generator.h"

namespace experiments {

enum class Activation { linear, tanh, relu };

// Layers of weights and biases, fully connected. All parameters are one vector, so that optimisers, target networks and
// checkpoints need to know nothing of layers. Columns of inputs and outputs are samples.
class DenseNetwork {
 public:
  // Glorot's uniform initialisation, biases 0. The last layer has the activation `output`, the others `hidden`.
  DenseNetwork(std::vector<int> sizes, Activation hidden, Activation output, Generator& generator);

  // What every layer has put out; the first entry is the input.
  using Pass = std::vector<Eigen::MatrixXd>;
  Pass forward(const Eigen::MatrixXd& inputs) const;
  Eigen::MatrixXd output(const Eigen::MatrixXd& inputs) const { return forward(inputs).back(); }

  struct Gradient {
    Eigen::VectorXd parameters;  // of the loss, summed over the samples
    Eigen::MatrixXd inputs;
  };
  // `output_gradient` is the gradient of the loss by the outputs of `pass`.
  Gradient backward(const Pass& pass, const Eigen::MatrixXd& output_gradient) const;

  const Eigen::VectorXd& parameters() const { return parameters_; }
  Eigen::VectorXd& parameters() { return parameters_; }

 private:
  struct Layer {
    Eigen::Index inputs;
    Eigen::Index outputs;
    Eigen::Index offset;  // of its weights; its biases follow
    Activation activation;
  };

  std::vector<Layer> layers_;
  Eigen::VectorXd parameters_;
};

// Adam with the constants of its paper (0.9, 0.999, 1e-8).
struct Adam {
  double rate = 1e-3;
  Eigen::VectorXd first_moment;
  Eigen::VectorXd second_moment;
  double steps = 0.0;

  Adam(double learning_rate, Eigen::Index parameters)
      : rate(learning_rate),
        first_moment(Eigen::VectorXd::Zero(parameters)),
        second_moment(Eigen::VectorXd::Zero(parameters)) {}

  void descend(Eigen::VectorXd& parameters, const Eigen::VectorXd& gradient);

  template <class A>
  void fields(A& archive) {
    archive(first_moment);
    archive(second_moment);
    archive(steps);
  }
};

}  // namespace experiments
