// Tunes a learner that lives in this program: no training process, no file. bapi says which configuration to train
// until which epoch; we train and tell what came out.

#include <bapi/control/ask_tell.h>
#include <bapi/policy/registry.h>
#include <bapi/store/memory_store.h>

#include <array>
#include <cmath>
#include <cstdio>
#include <map>

// Fits a cubic to a sine by gradient descent with momentum.
class Learner {
 public:
  Learner(double lr, double momentum) : lr_(lr), momentum_(momentum) {}

  // One step downhill; the loss before it.
  double train_epoch() {
    constexpr int kPoints = 50;
    std::array<double, 4> gradient{};
    double loss = 0.0;
    for (int i = 0; i < kPoints; ++i) {
      const double x = 2.0 * i / (kPoints - 1) - 1.0;
      const std::array<double, 4> powers = {1.0, x, x * x, x * x * x};
      double error = -std::sin(3.0 * x);
      for (std::size_t k = 0; k < powers.size(); ++k) error += weights_[k] * powers[k];
      for (std::size_t k = 0; k < powers.size(); ++k) gradient[k] += 2.0 * error * powers[k] / kPoints;
      loss += error * error / kPoints;
    }
    for (std::size_t k = 0; k < gradient.size(); ++k) {
      velocity_[k] = momentum_ * velocity_[k] - lr_ * gradient[k];
      weights_[k] += velocity_[k];
    }
    return loss;
  }

 private:
  double lr_;
  double momentum_;
  std::array<double, 4> weights_{};
  std::array<double, 4> velocity_{};
};

int main() {
  bapi::StudySpec spec{.name = "sine",
                       .metric = {.name = "loss", .goal = bapi::Goal::minimize},
                       .budget = {.limit = 500.0, .unit = "epochs", .meter = bapi::Meter::epochs},
                       .epochs = {.min = 1, .max = 81},
                       .policy = {.name = "hyperband"},
                       .space = bapi::Space({{.name = "lr", .domain = bapi::RealRange{1e-3, 1.0, bapi::Scale::log}},
                                             {.name = "momentum", .domain = bapi::RealRange{0.0, 0.99}}})};
  bapi::MemoryStore store(spec);
  const auto policy = bapi::make_policy(spec.policy);
  const bapi::SystemClock clock;
  bapi::Session session(store, *policy, clock);

  bapi::AskTell loop(session, clock);

  std::map<bapi::TrialId, Learner> learners;
  while (const auto segment = loop.ask()) {
    const auto& values = segment->config.values;
    auto& learner =
        learners.try_emplace(segment->trial, std::get<double>(values[0]), std::get<double>(values[1])).first->second;
    bapi::Advice advice = bapi::Advice::go_on;
    for (bapi::Epoch epoch = segment->from + 1; advice == bapi::Advice::go_on; ++epoch) {
      advice = loop.report(segment->trial, {.epoch = epoch, .value = learner.train_epoch()});
    }
    if (advice == bapi::Advice::stop) learners.erase(segment->trial);
  }

  const bapi::History& history = session.history();
  const bapi::Trial& best = history.trial(history.incumbent().value());
  std::printf(
      "%zu trials, %.0f of %.0f epochs\n", history.trials().size(), history.budget().spent(), history.budget().total());
  std::printf("best: trial %lld, loss %.5f, lr %s, momentum %s\n",
              static_cast<long long>(bapi::index(best.id)),
              history.in_user_units(best.curve.best()),
              bapi::to_text(best.config.values[0]).c_str(),
              bapi::to_text(best.config.values[1]).c_str());
}
