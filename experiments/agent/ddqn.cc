#include <algorithm>

#include "agent.h"
#include "dueling_network.h"
#include "replay.h"

namespace experiments {
namespace {

using Eigen::MatrixXd;
using Eigen::VectorXd;

constexpr int kBatch = 64;
constexpr int kStepsBeforeLearning = 200;
constexpr int kStepsPerTarget = 200;        // between two copies into the target network
constexpr double kExploringSteps = 10'000;  // over which random actions become rare
constexpr double kLeastExploration = 0.05;

Eigen::Index best_action(const MatrixXd& q, Eigen::Index sample) {
  Eigen::Index best = 0;
  q.col(sample).maxCoeff(&best);
  return best;
}

class Ddqn : public Agent {
 public:
  Ddqn(std::unique_ptr<Environment> task, const DdqnOptions& options, std::uint64_t seed)
      : task_(std::move(task)),
        gamma_(options.gamma),
        generator_{seed},
        network_(task_->observations(), task_->actions(), options.head_units, generator_),
        target_(network_),
        trunk_adam_(options.learning_rate, network_.trunk.parameters().size()),
        value_adam_(options.learning_rate, network_.value.parameters().size()),
        advantage_adam_(options.learning_rate, network_.advantage.parameters().size()),
        replay_(task_->observations()) {}

  double play_episode() override {
    double sum = 0.0;
    VectorXd state = task_->reset(generator_);
    for (int step = 0; step < task_->max_steps(); ++step) {
      const int action = choose(state);
      const Transition next = task_->step(VectorXd::Constant(1, action));
      replay_.add({.before = state,
                   .action = action,
                   .reward = next.reward,
                   .terminal = next.terminal,
                   .after = next.observation});
      sum += next.reward;
      steps_ += 1.0;
      if (replay_.size() >= kStepsBeforeLearning) learn();
      if (next.terminal) break;
      state = next.observation;
    }
    return sum;
  }

  void save(ArchiveWriter& archive) override {
    fields(archive);
    replay_.save(archive);
  }
  void load(ArchiveReader& archive) override {
    fields(archive);
    replay_.load(archive);
  }

 private:
  template <class A>
  void fields(A& archive) {
    archive(generator_.state);
    archive(steps_);
    network_.fields(archive);
    target_.fields(archive);
    trunk_adam_.fields(archive);
    value_adam_.fields(archive);
    advantage_adam_.fields(archive);
  }

  int choose(const VectorXd& state) {
    const double exploration = std::max(kLeastExploration, 1.0 - (1.0 - kLeastExploration) * steps_ / kExploringSteps);
    if (generator_.uniform() < exploration) return generator_.below(task_->actions());
    return static_cast<int>(best_action(network_.forward(state).q, 0));
  }

  // The value of what follows is the target network's, of the action that the network itself would take.
  VectorXd targets(const Replay::Batch& batch) const {
    const MatrixXd own = network_.forward(batch.after).q;
    const MatrixXd other = target_.forward(batch.after).q;
    VectorXd targets = batch.rewards;
    for (Eigen::Index i = 0; i < targets.size(); ++i) {
      targets[i] += gamma_ * batch.future[i] * other(best_action(own, i), i);
    }
    return targets;
  }

  // One step down Huber's loss of the errors, weighted; beyond +-1 its slope stays.
  void learn() {
    const Replay::Batch batch = replay_.draw(kBatch, generator_);
    const VectorXd goal = targets(batch);
    const DuelingNetwork::Pass pass = network_.forward(batch.before);
    MatrixXd by_q = MatrixXd::Zero(pass.q.rows(), pass.q.cols());
    VectorXd errors(goal.size());
    for (Eigen::Index i = 0; i < goal.size(); ++i) {
      const int action = batch.actions[static_cast<std::size_t>(i)];
      errors[i] = pass.q(action, i) - goal[i];
      by_q(action, i) = batch.weights[i] * std::clamp(errors[i], -1.0, 1.0) / kBatch;
    }
    replay_.set_priorities(batch.places, errors);
    const DuelingNetwork::Gradient gradient = network_.backward(pass, by_q);
    trunk_adam_.descend(network_.trunk.parameters(), gradient.trunk);
    value_adam_.descend(network_.value.parameters(), gradient.value);
    advantage_adam_.descend(network_.advantage.parameters(), gradient.advantage);
    if (static_cast<long>(steps_) % kStepsPerTarget == 0) target_.copy_parameters(network_);
  }

  std::unique_ptr<Environment> task_;
  double gamma_;
  Generator generator_;
  DuelingNetwork network_;
  DuelingNetwork target_;
  Adam trunk_adam_;
  Adam value_adam_;
  Adam advantage_adam_;
  Replay replay_;
  double steps_ = 0.0;
};

}  // namespace

std::unique_ptr<Agent> make_ddqn(std::unique_ptr<Environment> task, const DdqnOptions& options, std::uint64_t seed) {
  return std::make_unique<Ddqn>(std::move(task), options, seed);
}

}  // namespace experiments
