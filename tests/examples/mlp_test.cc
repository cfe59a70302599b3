// The example learner: gradients, checkpoints, and the contract with bapi.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string>

#include "bapi/studies/study_file.h"
#include "checkpoint.h"
#include "data.h"
#include "network.h"

namespace mlp {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t kSeed = 3;

Data small_data() { return make_spirals({.training = 600, .validation = 200}, kSeed); }

double squared_distance(const Network& a, const Network& b) {
  double sum = 0.0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    sum += (a[i].weights - b[i].weights).squaredNorm() + (a[i].bias - b[i].bias).squaredNorm();
  }
  return sum;
}

std::string contents(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

// ── learning ────────────────────────────────────────────────────────────────────────────────────────────────────────

TEST(Mlp, AShortStepLowersTheLossByTheSquaredGradient) {
  // A step of -lr g changes the loss by -lr |g|^2 to first order, and lr |g|^2 is the squared step over lr.
  const Data data = small_data();
  const Hyperparameters step = {.lr = 1e-5, .momentum = 0.0, .weight_decay = 0.0, .units = 8, .batch_size = 600};
  State state = initial_state(data, step, kSeed);
  const Network before = state.network;
  train_epoch(state, data.training, step, kSeed, 1);
  const double drop = evaluate(before, data.training).loss - evaluate(state.network, data.training).loss;
  const double predicted = squared_distance(before, state.network) / step.lr;
  EXPECT_GT(predicted, 0.0);
  EXPECT_NEAR(drop / predicted, 1.0, 1e-3);
}

TEST(Mlp, WeightDecayAndMomentumActAsDefined) {
  const Data data = small_data();
  const Hyperparameters plain = {.lr = 0.01, .momentum = 0.0, .weight_decay = 0.0, .units = 8, .batch_size = 600};
  Hyperparameters decaying = plain;
  decaying.weight_decay = 0.5;
  State without = initial_state(data, plain, kSeed);
  State with = without;
  const Layer first = without.network[0];
  train_epoch(without, data.training, plain, kSeed, 1);
  train_epoch(with, data.training, decaying, kSeed, 1);
  const Eigen::MatrixXd expected = without.network[0].weights - 0.01 * 0.5 * first.weights;
  EXPECT_NEAR((with.network[0].weights - expected).norm(), 0.0, 1e-12);

  // Without a gradient to speak of, a step with momentum 0.5 is half of the one before.
  State rolling = without;
  const Layer start = rolling.network[0];
  train_epoch(rolling,
              data.training,
              {.lr = 1e-300, .momentum = 0.5, .weight_decay = 0.0, .units = 8, .batch_size = 600},
              kSeed,
              2);
  EXPECT_NEAR((rolling.network[0].weights - start.weights - 0.5 * without.velocity[0].weights).norm(), 0.0, 1e-12);
}

TEST(Mlp, TrainingUntanglesTheSpiralsIfTheRateIsRight) {
  const Data data = make_spirals({.turns = 1.0, .training = 3000, .validation = 500}, kSeed);
  const auto accuracy_after = [&](double lr, int epochs) {
    const Hyperparameters h = {.lr = lr, .momentum = 0.9, .weight_decay = 1e-5, .units = 32, .batch_size = 32};
    State state = initial_state(data, h, kSeed);
    for (int epoch = 1; epoch <= epochs; ++epoch) train_epoch(state, data.training, h, kSeed, epoch);
    return evaluate(state.network, data.validation).accuracy;
  };
  EXPECT_LT(accuracy_after(0.02, 1), accuracy_after(0.02, 8));
  EXPECT_GT(accuracy_after(0.02, 8), 0.85);
  EXPECT_LT(accuracy_after(1e-5, 8), 0.5);
  EXPECT_LT(accuracy_after(3.0, 8), 0.5);
}

TEST(Mlp, DataDependOnTheSeedAlone) {
  EXPECT_EQ(small_data().training.inputs, small_data().training.inputs);
  EXPECT_NE(small_data().training.inputs, make_spirals({.training = 600, .validation = 200}, 4).training.inputs);
}

// ── the program ─────────────────────────────────────────────────────────────────────────────────────────────────────

class TrainMlp : public testing::Test {
 protected:
  void SetUp() override {
    fs::remove_all(folder_);
    fs::create_directories(folder_);
  }
  void TearDown() override { fs::remove_all(folder_); }

  fs::path path(const std::string& name) const { return folder_ / name; }

  // `environment`, then the program with flags that make it quick; its exit status as the shell sees it.
  static int run(const std::string& environment, const std::string& flags, int units = 8) {
    const std::string program = BAPI_BINARY_DIR "/examples/train_mlp --batch-size 256 --units " + std::to_string(units);
    const int status = std::system((environment + " " + program + " " + flags).c_str());
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  }

  std::string reporting(const std::string& name) const { return "BAPI_REPORT=" + path(name).string(); }
  std::string checkpoint(const std::string& name) const { return " --checkpoint " + path(name).string(); }

  fs::path folder_ = fs::path(testing::TempDir()) /
                     ("bapi_mlp_" + std::string(testing::UnitTest::GetInstance()->current_test_info()->name()));
};

TEST_F(TrainMlp, ReportsEveryEpochAsATaggedLineOrToTheReportFile) {
  ASSERT_EQ(run("", "--epochs 2 > " + path("out").string()), 0);
  ASSERT_EQ(run(reporting("report"), "--epochs 2 > " + path("quiet").string()), 0);
  EXPECT_EQ(contents(path("quiet")), "");
  const std::string report = contents(path("report"));
  EXPECT_TRUE(report.starts_with("{\"epoch\": 1, \"accuracy\": 0.")) << report;
  EXPECT_NE(report.find("\n{\"epoch\": 2, \"accuracy\": 0."), std::string::npos) << report;
  std::string tagged = "bapi: " + report;
  tagged.insert(tagged.find('\n') + 1, "bapi: ");
  EXPECT_EQ(contents(path("out")), tagged);
}

TEST_F(TrainMlp, ContinuedTrainingEqualsUninterruptedTrainingToTheLastBit) {
  ASSERT_EQ(run(reporting("whole"), "--epochs 5" + checkpoint("a")), 0);
  ASSERT_EQ(run(reporting("parts"), "--epochs 2" + checkpoint("b")), 0);
  ASSERT_EQ(run(reporting("parts") + " BAPI_FROM_EPOCH=2 BAPI_MAX_EPOCH=5", "--epochs 50" + checkpoint("b")), 0);
  EXPECT_EQ(contents(path("whole")), contents(path("parts")));
  EXPECT_EQ(contents(path("a/state")), contents(path("b/state")));
}

TEST_F(TrainMlp, SurvivesKillsAtAnyInstant) {
  constexpr int kEpochs = 6;
  const std::string epochs = "--epochs " + std::to_string(kEpochs);
  ASSERT_EQ(run(reporting("whole"), epochs + checkpoint("a")), 0);
  int status = -1;
  int starts = 0;
  for (double seconds = 0.02; status != 0; seconds *= 1.2, ++starts) {
    ASSERT_LT(starts, 60);
    const std::string limit =
        " timeout -s " + std::string(starts % 2 == 0 ? "TERM " : "KILL ") + std::to_string(seconds);
    const auto known = std::to_string(std::count_if(
        std::istreambuf_iterator<char>(std::ifstream(path("parts")).rdbuf()), {}, [](char c) { return c == '\n'; }));
    status = run(reporting("parts") + " BAPI_FROM_EPOCH=" + known + limit, epochs + checkpoint("b"));
  }
  EXPECT_GT(starts, 1);
  EXPECT_EQ(contents(path("whole")), contents(path("parts")));
  EXPECT_EQ(contents(path("a/state")), contents(path("b/state")));
}

TEST_F(TrainMlp, ReportsWhatWasTrainedButNeverHeard) {
  ASSERT_EQ(run(reporting("first"), "--epochs 3" + checkpoint("a")), 0);
  ASSERT_EQ(run(reporting("again") + " BAPI_FROM_EPOCH=1", "--epochs 3" + checkpoint("a")), 0);
  const std::string first = contents(path("first"));
  EXPECT_EQ(contents(path("again")), first.substr(first.find('\n') + 1));
}

TEST_F(TrainMlp, RefusesACheckpointOfAnotherNetwork) {
  ASSERT_EQ(run(reporting("r"), "--epochs 1" + checkpoint("a")), 0);
  EXPECT_EQ(run(reporting("r"), "--epochs 2" + checkpoint("a") + " 2> " + path("error").string(), 9), 1);
  EXPECT_NE(contents(path("error")).find("belongs to another network"), std::string::npos);
}

TEST_F(TrainMlp, RefusesADamagedCheckpoint) {
  ASSERT_EQ(run(reporting("r"), "--epochs 1" + checkpoint("a")), 0);
  fs::resize_file(path("a/state"), fs::file_size(path("a/state")) / 2);
  EXPECT_EQ(run(reporting("r"), "--epochs 2" + checkpoint("a") + " 2> " + path("error").string()), 1);
  EXPECT_NE(contents(path("error")).find("ends too early"), std::string::npos);
}

TEST(MlpStudy, IsAValidStudyFile) {
  const bapi::StudySpec spec = bapi::read_study_file(BAPI_SOURCE_DIR "/examples/mlp/study.yaml");
  EXPECT_EQ(spec.name, "mlp");
  EXPECT_EQ(spec.space.params().size(), 5u);
}

}  // namespace
}  // namespace mlp
