#include "training.h"

#include <gtest/gtest.h>

#include <cmath>

#include "scratch.h"

namespace experiments {
namespace {

namespace fs = std::filesystem;

class AgentTraining : public testing::Test {
 protected:
  AgentTrial trial(const std::string& task, const std::string& checkpoint, int last_epoch) const {
    AgentTrial result{
        .task = agent_task(task, Size::small), .size = Size::small, .hyperparameters = {}, .settings = {}};
    for (const std::string& name : result.task.hyperparameters) {
      result.hyperparameters[name] = name == "gamma" ? 0.95 : 1e-3;
    }
    result.settings.seed = 5;
    result.settings.last_epoch = last_epoch;
    result.settings.checkpoint = scratch_.path() / checkpoint;
    fs::create_directories(result.settings.checkpoint);
    return result;
  }

  std::vector<std::string> new_reports() { return scratch_.new_reports(); }

  ReportingScratch scratch_;
};

// The checkpoint less the seconds that the epochs took.
std::string agent_part(const fs::path& directory, int epochs) {
  const std::string bytes = *read_file(directory / "agent");
  std::string part = bytes;
  // the owner, the number of epochs, one figure for each of them, and the number of seconds
  const std::size_t seconds = owner_bytes(bytes) + 8 + 16 * static_cast<std::size_t>(epochs) + 8;
  part.erase(seconds, 8 * static_cast<std::size_t>(epochs));
  return part;
}

TEST_F(AgentTraining, ResumedEqualsUninterruptedBitByBit) {
  for (const std::string& task : agent_tasks()) {
    train(trial(task, task + "-whole", 12));
    const std::vector<std::string> whole = new_reports();
    train(trial(task, task + "-parts", 5));
    AgentTrial rest = trial(task, task + "-parts", 12);
    rest.settings.from_epoch = 5;
    train(rest);
    ASSERT_EQ(new_reports(), whole) << task;
    ASSERT_EQ(whole.size(), 12U);
    ASSERT_EQ(agent_part(scratch_.path() / (task + "-whole"), 12), agent_part(scratch_.path() / (task + "-parts"), 12))
        << task;
  }
}

TEST_F(AgentTraining, AnEpochThatWasSavedButNotReportedIsReportedAgain) {
  train(trial("ddqn-cartpole", "c", 4));
  const std::vector<std::string> before = new_reports();
  AgentTrial rest = trial("ddqn-cartpole", "c", 5);
  rest.settings.from_epoch = 3;
  train(rest);
  const std::vector<std::string> after = new_reports();
  ASSERT_EQ(after.size(), 2U);
  EXPECT_EQ(after[0], before[3]);
}

TEST_F(AgentTraining, ACheckpointOfAnotherConfigurationIsRefused) {
  train(trial("ddqn-cartpole", "c", 1));
  AgentTrial other = trial("ddqn-cartpole", "c", 2);
  other.hyperparameters["lr"] = 2e-3;
  EXPECT_THROW(train(other), std::runtime_error);
}

TEST_F(AgentTraining, ADamagedCheckpointIsRefused) {
  const AgentTrial whole = trial("ddqn-cartpole", "c", 2);
  train(whole);
  const fs::path file = whole.settings.checkpoint / "agent";
  fs::resize_file(file, fs::file_size(file) / 2);
  EXPECT_THROW(train(trial("ddqn-cartpole", "c", 3)), std::runtime_error);
}

// One step by hand from rest: the push gives the cart 10 / 1.1 - ..., the pole swings the other way.
TEST(CartPole, StepsAreThoseOfTheEquationsByHand) {
  const std::unique_ptr<Environment> task = make_cartpole();
  Generator generator{.state = 9};
  Eigen::VectorXd state = task->reset(generator);
  EXPECT_LE(state.cwiseAbs().maxCoeff(), 0.05);
  for (int i = 0; i < 10; ++i) {
    const double force = i % 3 == 0 ? 10.0 : -10.0;
    const double s = std::sin(state[2]);
    const double c = std::cos(state[2]);
    const double temp = (force + 0.05 * state[3] * state[3] * s) / 1.1;
    const double angular = (9.8 * s - c * temp) / (0.5 * (4.0 / 3.0 - 0.1 * c * c / 1.1));
    const double linear = temp - 0.05 * angular * c / 1.1;
    const Eigen::Vector4d expected(
        state[0] + 0.02 * state[1], state[1] + 0.02 * linear, state[2] + 0.02 * state[3], state[3] + 0.02 * angular);
    const Transition next = task->step(Eigen::VectorXd::Constant(1, force > 0.0 ? 1.0 : 0.0));
    ASSERT_TRUE(next.observation.isApprox(expected, 1e-12)) << "step " << i;
    EXPECT_EQ(next.reward, 1.0);
    EXPECT_EQ(next.terminal, std::abs(expected[2]) > 12.0 * M_PI / 180.0 || std::abs(expected[0]) > 2.4);
    state = next.observation;
  }
}

TEST(CartPole, EndsWhenThePoleFallsToOneSide) {
  const std::unique_ptr<Environment> task = make_cartpole();
  Generator generator{.state = 9};
  task->reset(generator);
  int steps = 0;
  while (!task->step(Eigen::VectorXd::Ones(1)).terminal) ++steps;
  EXPECT_GT(steps, 5);
  EXPECT_LT(steps, 15);
}

}  // namespace
}  // namespace experiments
