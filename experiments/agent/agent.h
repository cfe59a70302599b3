#pragma once

#include <memory>

#include "archive.h"
#include "environment.h"

namespace experiments {

// Learns a task by playing it. Everything that learning changes is in `save`, so that an agent that was loaded plays
// and learns on bit by bit like one that was never interrupted.
class Agent {
 public:
  virtual ~Agent() = default;
  virtual double play_episode() = 0;  // learns meanwhile; the sum of the rewards
  virtual void save(ArchiveWriter& archive) = 0;
  virtual void load(ArchiveReader& archive) = 0;
};

struct DdqnOptions {
  double gamma = 0.99;
  double learning_rate = 1e-3;
  int head_units = 64;  // of each of the two dueling heads
};

// Dueling double deep Q-learning with prioritised replay (Wang et al. 2016, van Hasselt et al. 2016, Schaul et al.
// 2016) for discrete actions.
std::unique_ptr<Agent> make_ddqn(std::unique_ptr<Environment> task, const DdqnOptions& options, std::uint64_t seed);

struct A2cOptions {
  double gamma = 0.99;
  double actor_rate = 1e-4;
  double critic_rate = 1e-3;
};

// Advantage actor-critic with a Gaussian policy for continuous actions, updated at every step.
std::unique_ptr<Agent> make_a2c(std::unique_ptr<Environment> task, const A2cOptions& options, std::uint64_t seed);

}  // namespace experiments
