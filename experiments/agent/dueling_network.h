#pragma once

#include <Eigen/Core>

#include "archive.h"
#include "dense_network.h"

namespace experiments {

// Values of actions from two heads on one trunk (Wang et al. 2016): Q(s, a) = V(s) + A(s, a) - mean_a A(s, a).
class DuelingNetwork {
 public:
  DuelingNetwork(int observations, int actions, int head_units, Generator& generator);

  struct Pass {
    DenseNetwork::Pass trunk;
    DenseNetwork::Pass value;
    DenseNetwork::Pass advantage;
    Eigen::MatrixXd q;  // actions x samples
  };
  Pass forward(const Eigen::MatrixXd& observations) const;

  // Gradient of a loss by all parameters in the order trunk, value, advantage, from that by q.
  struct Gradient {
    Eigen::VectorXd trunk;
    Eigen::VectorXd value;
    Eigen::VectorXd advantage;
  };
  Gradient backward(const Pass& pass, const Eigen::MatrixXd& by_q) const;

  void copy_parameters(const DuelingNetwork& other);

  DenseNetwork trunk;
  DenseNetwork value;
  DenseNetwork advantage;

  template <class A>
  void fields(A& archive) {
    archive(trunk.parameters());
    archive(value.parameters());
    archive(advantage.parameters());
  }
};

}  // namespace experiments
