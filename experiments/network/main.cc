// Trains a network of the paper's experiments 1 to 10: a training program for bapi.

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>

#include "network_training.h"

namespace {

using namespace experiments;

constexpr double kSlowProduct = 0.01;  // seconds

int run(int argc, char** argv) {
  std::string name;
  NetworkTrial trial;
  Hyperparameters given;
  CLI::App app("Trains a neural network and reports its validation error after every epoch.");
  app.add_option("task", name, fmt::format("Task: {}", fmt::join(network_tasks(), ", ")))->required();
  app.add_option("--data", trial.data, "Directory of the data sets: mnist/, olivetti/, covtype/, cifar10/, svhn/")
      ->envname("BAPI_DATA")
      ->required();
  app.add_option("--size", trial.size, "Size of the task: small, medium or paper")
      ->transform(CLI::CheckedTransformer(size_names()));
  app.add_option("--lr", given["lr"], "Learning rate")->check(CLI::PositiveNumber);
  app.add_option("--l2", given["l2"], "Weight decay")->check(CLI::NonNegativeNumber);
  app.add_option("--batch", given["batch"], "Examples per step")->check(CLI::PositiveNumber);
  app.add_option("--momentum", given["momentum"], "Momentum, 0 to 1")->check(CLI::Range(0.0, 1.0));
  app.add_option("--layers", given["layers"], "Hidden layers; for a ResNet all layers: 10, 12, 14, ...");
  app.add_option("--units", given["units"], "Units of each hidden layer");
  app.add_option("--filters", given["filters"], "Filters of a convolution");
  app.add_option("--dense", given["dense"], "Units of the dense layer behind the convolutions");
  app.add_option("--epochs", trial.settings.last_epoch, "Last epoch (BAPI_MAX_EPOCH overrides)")->capture_default_str();
  app.add_option("--seed", trial.settings.seed, "Random seed (BAPI_SEED overrides)")->capture_default_str();
  app.add_option("--checkpoint", trial.settings.checkpoint, "Checkpoint directory (BAPI_CHECKPOINT_DIR overrides)");
  CLI11_PARSE(app, argc, argv);
  trial.task = network_task(name, trial.size);
  for (const std::string& parameter : trial.task.hyperparameters) {
    if (app.count("--" + parameter) == 0) {
      throw std::runtime_error(
          fmt::format("{} needs {}: --{} is missing", name, fmt::join(trial.task.hyperparameters, ", "), parameter));
    }
    trial.hyperparameters[parameter] = given[parameter];
  }
  trial.settings.read_environment();
  if (const double seconds = matrix_product_seconds(); seconds > kSlowProduct) {
    fmt::print(stderr,
               "train_network: a product of 256 x 256 matrices takes {:.1f} ms, expected 1 ms; install "
               "libopenblas0-serial\n",
               1e3 * seconds);
  }
  train(trial);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return run(argc, argv);
  } catch (const std::exception& error) {
    fmt::print(stderr, "train_network: {}\n", error.what());
    return 2;
  }
}
