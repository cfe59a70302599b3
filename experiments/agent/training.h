#pragma once

#include <map>
#include <string>
#include <vector>

#include "agent.h"
#include "size.h"
#include "trial.h"

namespace experiments {

// One of the paper's tasks 11 to 13.
struct AgentTask {
  std::string name;
  std::vector<std::string> hyperparameters;  // what must be given
  int first_episodes = 0;                    // of epoch 1, beyond those of every epoch
  int episodes = 3;                          // per epoch
};

// The tasks that this build can run: those with MuJoCo's physics only where it was found.
std::vector<std::string> agent_tasks();

// Throws std::runtime_error that lists the tasks if there is none of that name.
AgentTask agent_task(const std::string& name, Size size);

struct AgentTrial {
  AgentTask task;
  Size size = Size::medium;
  std::map<std::string, double> hyperparameters;
  TrialSettings settings;
};

// Trains from the checkpoint, if there is one, to the last epoch, and reports every epoch as run_training does. Throws
// std::runtime_error, also if the checkpoint belongs to another trial.
void train(const AgentTrial& trial);

}  // namespace experiments
