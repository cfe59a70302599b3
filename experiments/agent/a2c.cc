#include <cmath>

#include "agent.h"
#include "dense_network.h"

namespace experiments {
namespace {

using Eigen::MatrixXd;
using Eigen::VectorXd;

constexpr int kUnits = 32;
constexpr double kEntropyWeight = 0.01;
constexpr double kLeastDeviation = 1e-3;

double softplus(double x) { return x > 30.0 ? x : std::log1p(std::exp(x)); }
double logistic(double x) { return 1.0 / (1.0 + std::exp(-x)); }

class A2c : public Agent {
 public:
  A2c(std::unique_ptr<Environment> task, const A2cOptions& options, std::uint64_t seed)
      : task_(std::move(task)),
        gamma_(options.gamma),
        generator_{seed},
        actor_({task_->observations(), kUnits, kUnits, 2 * task_->actions()},
               Activation::tanh,
               Activation::linear,
               generator_),
        critic_({task_->observations(), kUnits, kUnits, 1}, Activation::tanh, Activation::linear, generator_),
        actor_adam_(options.actor_rate, actor_.parameters().size()),
        critic_adam_(options.critic_rate, critic_.parameters().size()) {}

  double play_episode() override {
    double sum = 0.0;
    VectorXd state = task_->reset(generator_);
    for (int step = 0; step < task_->max_steps(); ++step) {
      const DenseNetwork::Pass policy = actor_.forward(state);
      const VectorXd action = draw(policy.back().col(0));
      const Transition next = task_->step(action);
      sum += next.reward;
      learn(state, policy, action, next);
      if (next.terminal) break;
      state = next.observation;
    }
    return sum;
  }

  void save(ArchiveWriter& archive) override { fields(archive); }
  void load(ArchiveReader& archive) override { fields(archive); }

 private:
  template <class A>
  void fields(A& archive) {
    archive(generator_.state);
    archive(actor_.parameters());
    archive(critic_.parameters());
    actor_adam_.fields(archive);
    critic_adam_.fields(archive);
  }

  // The actor puts out u and v per entry of the action: normal with mean L tanh(u) and deviation softplus(v) + small.
  double mean(double u) const { return task_->action_limit() * std::tanh(u); }
  static double deviation(double v) { return softplus(v) + kLeastDeviation; }

  VectorXd draw(const VectorXd& output) {
    const int n = task_->actions();
    VectorXd action(n);
    for (int i = 0; i < n; ++i) action[i] = mean(output[i]) + deviation(output[n + i]) * generator_.normal();
    return action;
  }

  void learn(const VectorXd& state, const DenseNetwork::Pass& policy, const VectorXd& action, const Transition& next) {
    const DenseNetwork::Pass value = critic_.forward(state);
    const double after = next.terminal ? 0.0 : critic_.output(next.observation)(0, 0);
    const double advantage = next.reward + gamma_ * after - value.back()(0, 0);
    const MatrixXd by_value = MatrixXd::Constant(1, 1, -advantage);
    critic_adam_.descend(critic_.parameters(), critic_.backward(value, by_value).parameters);
    const MatrixXd by_output = policy_gradient(policy.back().col(0), action, advantage);
    actor_adam_.descend(actor_.parameters(), actor_.backward(policy, by_output).parameters);
  }

  // Of - advantage log p(action) - weight * entropy, by u and v. With z = (action - mean) / sd:
  // d log p / d mean = z / sd, d log p / d sd = (z^2 - 1) / sd, d entropy / d sd = 1 / sd.
  MatrixXd policy_gradient(const VectorXd& output, const VectorXd& action, double advantage) const {
    const int n = task_->actions();
    MatrixXd gradient(2 * n, 1);
    for (int i = 0; i < n; ++i) {
      const double sd = deviation(output[n + i]);
      const double z = (action[i] - mean(output[i])) / sd;
      const double tanh_u = std::tanh(output[i]);
      const double mean_slope = task_->action_limit() * (1.0 - tanh_u * tanh_u);
      gradient(i, 0) = -advantage * z / sd * mean_slope;
      gradient(n + i, 0) = -(advantage * (z * z - 1.0) + kEntropyWeight) / sd * logistic(output[n + i]);
    }
    return gradient;
  }

  std::unique_ptr<Environment> task_;
  double gamma_;
  Generator generator_;
  DenseNetwork actor_;
  DenseNetwork critic_;
  Adam actor_adam_;
  Adam critic_adam_;
};

}  // namespace

std::unique_ptr<Agent> make_a2c(std::unique_ptr<Environment> task, const A2cOptions& options, std::uint64_t seed) {
  return std::make_unique<A2c>(std::move(task), options, seed);
}

}  // namespace experiments
