// Trains a small neural network on spirals that it draws itself; an example of a training program for bapi.
//
// What bapi asks of a program is in main(): it continues from its checkpoint directory, keeps a checkpoint after every
// epoch, and reports every epoch. Nothing is done on SIGTERM: a checkpoint is complete at any instant, so the default,
// to end at once, is right.

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cstdlib>
#include <stdexcept>
#include <string>

#include "checkpoint.h"
#include "data.h"
#include "network.h"

namespace {

constexpr std::uint64_t kDataSeed = 1;  // the same data for every configuration

struct Options {
  mlp::Hyperparameters hyperparameters;
  int epochs = 50;
  std::uint64_t seed = 0;
  std::string checkpoint;  // directory; none if empty
  int reported = 0;        // epochs that bapi knows already
};

// What bapi says, or what holds without it.
int from_environment(const char* name, int otherwise) {
  const char* text = std::getenv(name);
  return text ? std::stoi(text) : otherwise;
}

void report(int epoch, const mlp::Score& score) {
  const std::string line =
      fmt::format("{{\"epoch\": {}, \"accuracy\": {:.4f}, \"loss\": {:.5f}}}\n", epoch, score.accuracy, score.loss);
  const char* path = std::getenv("BAPI_REPORT");
  if (!path) {
    fmt::print("bapi: {}", line);
    std::fflush(stdout);
    return;
  }
  const int file = ::open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0644);
  const bool written = file >= 0 && ::write(file, line.data(), line.size()) == static_cast<ssize_t>(line.size());
  if (file >= 0) ::close(file);
  if (!written) throw std::runtime_error(fmt::format("{}: cannot be written", path));
}

void train(const Options& options) {
  const mlp::Data data = mlp::make_spirals({}, kDataSeed);
  mlp::Checkpoint training{.state = mlp::initial_state(data, options.hyperparameters, options.seed), .scores = {}};
  if (!options.checkpoint.empty()) training = mlp::load(options.checkpoint, training.state).value_or(training);

  // A checkpoint is kept before its epoch is reported. A run that ended in between left scores that nobody has heard.
  const int done = static_cast<int>(training.scores.size());
  for (int epoch = options.reported + 1; epoch <= done; ++epoch) {
    report(epoch, training.scores[static_cast<std::size_t>(epoch - 1)]);
  }
  for (int epoch = done + 1; epoch <= options.epochs; ++epoch) {
    mlp::train_epoch(training.state, data.training, options.hyperparameters, options.seed, epoch);
    training.scores.push_back(mlp::evaluate(training.state.network, data.validation));
    if (!options.checkpoint.empty()) mlp::save(training, options.checkpoint);
    report(epoch, training.scores.back());
  }
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  CLI::App app("Trains a small neural network on spirals and reports the validation accuracy of every epoch.");
  app.add_option("--lr", options.hyperparameters.lr, "Learning rate")->capture_default_str();
  app.add_option("--momentum", options.hyperparameters.momentum, "Momentum")->capture_default_str();
  app.add_option("--weight-decay", options.hyperparameters.weight_decay, "Weight decay")->capture_default_str();
  app.add_option("--units", options.hyperparameters.units, "Units in each of the two hidden layers")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  app.add_option("--batch-size", options.hyperparameters.batch_size, "Points per step")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  app.add_option("--epochs", options.epochs, "Last epoch; BAPI_MAX_EPOCH goes before")->capture_default_str();
  app.add_option("--seed", options.seed, "Of weights and shuffling")->envname("BAPI_SEED")->capture_default_str();
  app.add_option("--checkpoint", options.checkpoint, "Directory")->envname("BAPI_CHECKPOINT_DIR");
  CLI11_PARSE(app, argc, argv);
  try {
    options.epochs = from_environment("BAPI_MAX_EPOCH", options.epochs);
    options.reported = from_environment("BAPI_FROM_EPOCH", 0);
    train(options);
  } catch (const std::exception& error) {
    fmt::print(stderr, "train_mlp: {}\n", error.what());
    return 1;
  }
  return 0;
}
