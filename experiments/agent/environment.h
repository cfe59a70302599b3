#pragma once

#include <Eigen/Core>
#include <memory>

#include "generator.h"

namespace experiments {

struct Transition {
  Eigen::VectorXd observation;  // after the step
  double reward = 0.0;
  bool terminal = false;  // the state has no future; running out of steps is not terminal
};

// A task that is played in episodes. `reset` sets the whole state, so nothing of an episode survives into the next and
// a checkpoint between episodes needs nothing of it.
class Environment {
 public:
  virtual ~Environment() = default;
  virtual int observations() const = 0;
  virtual int actions() const = 0;          // discrete: how many there are; continuous: dimension of the action
  virtual double action_limit() const = 0;  // continuous: entries of an action lie within +- this
  virtual int max_steps() const = 0;
  virtual Eigen::VectorXd reset(Generator& generator) = 0;
  virtual Transition step(const Eigen::VectorXd& action) = 0;  // discrete: the number of the action in one entry
};

std::unique_ptr<Environment> make_cartpole();  // two actions: push left, push right
std::unique_ptr<Environment> make_pendulum();  // continuous; physics by MuJoCo
std::unique_ptr<Environment> make_reacher();   // continuous; physics by MuJoCo

}  // namespace experiments
