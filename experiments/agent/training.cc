#include "training.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <stdexcept>

#include "resumable.h"

namespace experiments {
namespace {

constexpr double kDiscount = 0.9;  // of the paper's score

std::string checkpoint_owner(const AgentTrial& trial) {
  std::string owner =
      fmt::format("agent 2, {}, size {}, seed {}", trial.task.name, static_cast<int>(trial.size), trial.settings.seed);
  for (const auto& [name, value] : trial.hyperparameters) owner += fmt::format(", {} {}", name, value);
  return owner;
}

std::unique_ptr<Agent> make_agent(const AgentTrial& trial) {
  const std::string& name = trial.task.name;
  const auto given = [&](const char* parameter) { return trial.hyperparameters.at(parameter); };
  const std::uint64_t seed = trial.settings.seed;
  if (name == "ddqn-cartpole") {
    return make_ddqn(
        make_cartpole(),
        {.gamma = given("gamma"), .learning_rate = given("lr"), .head_units = trial.size == Size::paper ? 512 : 64},
        seed);
  }
#ifdef BAPI_HAS_MUJOCO
  const A2cOptions options{.gamma = given("gamma"), .actor_rate = given("lr-actor"), .critic_rate = given("lr-critic")};
  return make_a2c(name == "a2c-reacher" ? make_reacher() : make_pendulum(), options, seed);
#else
  throw std::runtime_error(name + " needs MuJoCo");
#endif
}

// The figure of an epoch is r, the mean return of its episodes.
class AgentLearner : public Learner {
 public:
  explicit AgentLearner(const AgentTrial& trial) : task_(trial.task), agent_(make_agent(trial)) {}

  std::vector<double> train_epoch(int epoch) override {
    const int episodes = task_.episodes + (epoch == 1 ? task_.first_episodes : 0);
    double sum = 0.0;
    for (int i = 0; i < episodes; ++i) sum += agent_->play_episode();
    return {sum / episodes};
  }

  // The score follows r as s = 0.9 s + 0.1 r, so it grows while the agent improves and also serves rewards below 0;
  // `discounted` is the paper's literal sum of 0.9^i r_i.
  ReportFields report_fields(std::span<const std::vector<double>> epochs) override {
    double score = epochs.front().front();
    double discounted = 0.0;
    double weight = 1.0;
    for (const std::vector<double>& epoch : epochs) {
      const double r = epoch.front();
      score = kDiscount * score + (1.0 - kDiscount) * r;
      discounted += weight * r;
      weight *= kDiscount;
    }
    return {{"score", score}, {"discounted", discounted}, {"return", epochs.back().front()}};
  }

  void save(ArchiveWriter& archive) override { agent_->save(archive); }
  void load(ArchiveReader& archive) override { agent_->load(archive); }

 private:
  AgentTask task_;
  std::unique_ptr<Agent> agent_;
};

}  // namespace

std::vector<std::string> agent_tasks() {
#ifdef BAPI_HAS_MUJOCO
  return {"ddqn-cartpole", "a2c-reacher", "a2c-pendulum"};
#else
  return {"ddqn-cartpole"};
#endif
}

AgentTask agent_task(const std::string& name, Size size) {
  const std::vector<std::string> tasks = agent_tasks();
  if (std::find(tasks.begin(), tasks.end(), name) == tasks.end()) {
    throw std::runtime_error(
        fmt::format("{}: no such task here; expected one of {}. The a2c tasks need MuJoCo "
                    "(Debian's libmujoco-dev) when bapi is built",
                    name,
                    fmt::join(tasks, ", ")));
  }
  const bool pendulum = name == "a2c-pendulum";
  const bool paper = size == Size::paper;
  return {.name = name,
          .hyperparameters = name == "ddqn-cartpole" ? std::vector<std::string>{"gamma", "lr"}
                                                     : std::vector<std::string>{"gamma", "lr-actor", "lr-critic"},
          .first_episodes = paper ? (pendulum ? 700 : 200) : 0,
          .episodes = pendulum ? (paper ? 8 : 15) : 3};
}

void train(const AgentTrial& trial) {
  AgentLearner learner(trial);
  run_training(learner, checkpoint_owner(trial), trial.settings, "agent");
}

}  // namespace experiments
