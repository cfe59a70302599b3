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

// One epoch: r is the mean return of its episodes. The score follows r as s = 0.9 s + 0.1 r, so it grows while the
// agent improves and also serves rewards below 0; `discounted` is the paper's literal sum of 0.9^i r_i.
struct EpochScore {
  double score = 0.0;
  double discounted = 0.0;
  double mean_return = 0.0;
  double seconds = 0.0;  // of processor time, without the checkpoint
};

// Trains from the checkpoint, if there is one, to the last epoch. Saves, then reports, every epoch. What was saved but
// never reported is reported first. Throws std::runtime_error, also if the checkpoint belongs to another trial.
void train(const AgentTrial& trial);

}  // namespace experiments
