#include "training.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>

namespace experiments {
namespace {

namespace fs = std::filesystem;

constexpr double kDiscount = 0.9;  // of the paper's score

std::string checkpoint_owner(const AgentTrial& trial) {
  std::string owner =
      fmt::format("agent 1, {}, size {}, seed {}", trial.task.name, static_cast<int>(trial.size), trial.settings.seed);
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

// Everything that a trial has become: the agent and the scores of its epochs.
class Training {
 public:
  explicit Training(const AgentTrial& trial)
      : trial_(trial), agent_(make_agent(trial)), file_(trial.settings.checkpoint / "agent") {
    if (!trial.settings.checkpoint.empty()) load();
  }

  int epochs() const { return static_cast<int>(returns_.size()); }

  void train_epoch() {
    const double begin = processor_seconds();
    const int episodes = trial_.task.episodes + (epochs() == 0 ? trial_.task.first_episodes : 0);
    double sum = 0.0;
    for (int i = 0; i < episodes; ++i) sum += agent_->play_episode();
    returns_.push_back(sum / episodes);
    seconds_.push_back(processor_seconds() - begin);
    if (!trial_.settings.checkpoint.empty()) save();
  }

  EpochScore score(int epoch) const {
    EpochScore result;
    double weight = 1.0;
    for (int i = 0; i < epoch; ++i) {
      const double r = returns_[static_cast<std::size_t>(i)];
      result.score = i == 0 ? r : kDiscount * result.score + (1.0 - kDiscount) * r;
      result.discounted += weight * r;
      weight *= kDiscount;
    }
    result.mean_return = returns_[static_cast<std::size_t>(epoch) - 1];
    result.seconds = seconds_[static_cast<std::size_t>(epoch) - 1];
    return result;
  }

 private:
  void save() {
    ArchiveWriter archive;
    archive(checkpoint_owner(trial_));
    archive(returns_);
    archive(seconds_);
    agent_->save(archive);
    replace_file(file_, archive.bytes());
  }

  void load() {
    const std::optional<std::string> bytes = read_file(file_);
    if (!bytes) return;
    try {
      ArchiveReader archive(*bytes);
      std::string owner;
      archive(owner);
      if (owner != checkpoint_owner(trial_)) {
        throw std::runtime_error(
            fmt::format("it belongs to another trial ({}; this is {})", owner, checkpoint_owner(trial_)));
      }
      archive(returns_);
      archive(seconds_);
      agent_->load(archive);
      if (!archive.at_end() || returns_.size() != seconds_.size()) throw std::runtime_error("it is damaged");
    } catch (const std::runtime_error& error) {
      throw std::runtime_error(
          fmt::format("{}: {}; remove it or use another --checkpoint directory", file_.string(), error.what()));
    }
  }

  const AgentTrial& trial_;
  std::unique_ptr<Agent> agent_;
  fs::path file_;
  std::vector<double> returns_;
  std::vector<double> seconds_;
};

void report_epoch(int epoch, const EpochScore& s) {
  report(report_line(
      epoch, {{"score", s.score}, {"discounted", s.discounted}, {"return", s.mean_return}, {"cost", s.seconds}}));
}

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
  Training training(trial);
  report("{\"ready\": true}");
  for (int epoch = trial.settings.from_epoch + 1; epoch <= training.epochs(); ++epoch) {
    report_epoch(epoch, training.score(epoch));
  }
  while (training.epochs() < trial.settings.last_epoch) {
    training.train_epoch();
    const EpochScore score = training.score(training.epochs());
    report_epoch(training.epochs(), score);
    if (!std::isfinite(score.score)) return;  // the trial has failed; bapi says so
  }
}

}  // namespace experiments
