// Trains an agent of the paper's experiments 11 to 13: a training program for bapi.

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>

#include "training.h"

namespace {

using namespace experiments;

int run(int argc, char** argv) {
  std::string name;
  AgentTrial trial;
  std::map<std::string, double> given;
  CLI::App app("Trains a reinforcement-learning agent and reports its score after every epoch.");
  app.add_option("task", name, fmt::format("Task: {}", fmt::join(agent_tasks(), ", ")))->required();
  app.add_option("--size", trial.size, "Size of the task: small, medium or paper")
      ->transform(CLI::CheckedTransformer(size_names()));
  app.add_option("--gamma", given["gamma"], "Discount factor, 0 to 1")->check(CLI::Range(0.0, 1.0));
  app.add_option("--lr", given["lr"], "Learning rate")->check(CLI::PositiveNumber);
  app.add_option("--lr-actor", given["lr-actor"], "Learning rate of the actor")->check(CLI::PositiveNumber);
  app.add_option("--lr-critic", given["lr-critic"], "Learning rate of the critic")->check(CLI::PositiveNumber);
  app.add_option("--epochs", trial.settings.last_epoch, "Last epoch (BAPI_MAX_EPOCH overrides)")->capture_default_str();
  app.add_option("--seed", trial.settings.seed, "Random seed (BAPI_SEED overrides)")->capture_default_str();
  app.add_option("--checkpoint", trial.settings.checkpoint, "Checkpoint directory (BAPI_CHECKPOINT_DIR overrides)");
  CLI11_PARSE(app, argc, argv);
  trial.task = agent_task(name, trial.size);
  for (const std::string& parameter : trial.task.hyperparameters) {
    if (app.count("--" + parameter) == 0) {
      throw std::runtime_error(
          fmt::format("{} needs {}: --{} is missing", name, fmt::join(trial.task.hyperparameters, ", "), parameter));
    }
    trial.hyperparameters[parameter] = given[parameter];
  }
  trial.settings.read_environment();
  train(trial);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return run(argc, argv);
  } catch (const std::exception& error) {
    fmt::print(stderr, "train_agent: {}\n", error.what());
    return 2;
  }
}
