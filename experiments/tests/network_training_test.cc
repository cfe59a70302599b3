#include "network_training.h"

#include <gtest/gtest.h>

#include "tiny_data.h"

namespace experiments {
namespace {

namespace fs = std::filesystem;

class NetworkTraining : public testing::Test {
 protected:
  NetworkTraining() { write_tiny_data(scratch_.path(), 64); }

  NetworkTrial trial(const std::string& task, const std::string& checkpoint, int last_epoch) const {
    NetworkTrial result;
    result.task = network_task(task, Size::small);
    result.task.sizes = {.train = 48, .valid = 16};
    if (result.task.architecture == Architecture::residual) result.task.epoch_examples = 16;
    const Hyperparameters all = {{"lr", 0.05},
                                 {"l2", 1e-4},
                                 {"batch", 10},
                                 {"momentum", 0.5},
                                 {"units", 20},
                                 {"filters", 4},
                                 {"dense", 16},
                                 {"layers", 12}};
    for (const std::string& name : result.task.hyperparameters) result.hyperparameters[name] = all.at(name);
    if (task == "fcnet-mnist") result.hyperparameters["layers"] = 2;
    result.size = Size::small;
    result.data = scratch_.path();
    result.settings.seed = 5;
    result.settings.last_epoch = last_epoch;
    result.settings.checkpoint = scratch_.path() / checkpoint;
    fs::create_directories(result.settings.checkpoint);
    return result;
  }

  std::vector<std::string> new_reports() { return scratch_.new_reports(); }

  ReportingScratch scratch_;
};

// What follows the seconds, which end `head`: the weights, the buffers and the momentum.
std::string weights(const fs::path& directory) {
  const std::string bytes = *read_file(directory / "network");
  constexpr std::size_t kEpochs = 3;
  const std::size_t head = owner_bytes(bytes) + 8 + kEpochs * (8 + 2 * 8) + 8 + kEpochs * 8;
  return bytes.substr(head);
}

TEST_F(NetworkTraining, ResumedEqualsUninterruptedBitByBit) {
  for (const std::string& task : network_tasks()) {
    train(trial(task, task + "-whole", 3));
    const std::vector<std::string> whole = new_reports();
    train(trial(task, task + "-parts", 1));
    NetworkTrial rest = trial(task, task + "-parts", 3);
    rest.settings.from_epoch = 1;
    train(rest);
    ASSERT_EQ(new_reports(), whole) << task;
    ASSERT_EQ(whole.size(), 3U);
    ASSERT_EQ(weights(scratch_.path() / (task + "-whole")), weights(scratch_.path() / (task + "-parts"))) << task;
  }
}

TEST_F(NetworkTraining, AnotherSeedGivesAnotherTraining) {
  train(trial("logreg-mnist", "a", 1));
  NetworkTrial other = trial("logreg-mnist", "b", 1);
  other.settings.seed = 6;
  train(other);
  const std::vector<std::string> reports = new_reports();
  EXPECT_NE(reports[0], reports[1]);
}

TEST_F(NetworkTraining, AnEpochThatWasSavedButNotReportedIsReportedAgain) {
  train(trial("logreg-mnist", "c", 3));
  const std::vector<std::string> before = new_reports();
  NetworkTrial rest = trial("logreg-mnist", "c", 4);
  rest.settings.from_epoch = 2;
  train(rest);
  const std::vector<std::string> after = new_reports();
  ASSERT_EQ(after.size(), 2U);
  EXPECT_EQ(after[0], before[2]);
}

TEST_F(NetworkTraining, ACheckpointOfAnotherConfigurationIsRefused) {
  train(trial("logreg-mnist", "c", 1));
  NetworkTrial other = trial("logreg-mnist", "c", 2);
  other.hyperparameters["l2"] = 2e-4;
  EXPECT_THROW(train(other), std::runtime_error);
}

TEST_F(NetworkTraining, ADamagedCheckpointIsRefused) {
  const NetworkTrial whole = trial("cnn-svhn", "c", 1);
  train(whole);
  const fs::path file = whole.settings.checkpoint / "network";
  fs::resize_file(file, fs::file_size(file) - 100);
  EXPECT_THROW(train(trial("cnn-svhn", "c", 2)), std::runtime_error);
}

TEST_F(NetworkTraining, LogisticRegressionSeparatesSeparablePoints) {
  write_tiny_data(scratch_.path(), 600);
  NetworkTrial learns = trial("logreg-mnist", "c", 8);
  learns.task.sizes = {.train = 400, .valid = 200};
  train(learns);
  const std::string last = new_reports().back();
  const double error = std::stod(last.substr(last.find("\"error\": ") + 9));
  EXPECT_LT(error, 0.02) << last;
}

TEST_F(NetworkTraining, ALossThatIsNotFiniteEndsTheTrialWithNan) {
  NetworkTrial diverges = trial("mlp-covtype", "c", 20);
  diverges.hyperparameters["lr"] = 1e30;
  train(diverges);
  const std::vector<std::string> reports = new_reports();
  EXPECT_NE(reports.back().find("\"error\": NaN"), std::string::npos) << reports.back();
  EXPECT_LT(reports.size(), 20U);
}

TEST_F(NetworkTraining, ValuesThatGiveNoNetworkAreRefused) {
  NetworkTrial odd = trial("resnet-cifar10", "c", 1);
  odd.hyperparameters["layers"] = 11;
  EXPECT_THROW(train(odd), std::runtime_error);
}

}  // namespace
}  // namespace experiments
