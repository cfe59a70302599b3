// The pole on a cart of Barto, Sutton and Anderson (1983) with the constants of the public environment CartPole-v0:
// Euler steps of 0.02 s, a push of 10 N to the left or right, 1 per step while the pole stands, at most 200 steps.

#include <cmath>
#include <numbers>

#include "environment.h"

namespace experiments {
namespace {

constexpr double kGravity = 9.8;
constexpr double kPoleMass = 0.1;
constexpr double kTotalMass = 1.0 + kPoleMass;
constexpr double kHalfLength = 0.5;
constexpr double kForce = 10.0;
constexpr double kSeconds = 0.02;
constexpr double kEdge = 2.4;
constexpr double kLargestAngle = 12.0 * std::numbers::pi / 180.0;
constexpr double kStartWithin = 0.05;

class CartPole : public Environment {
 public:
  int observations() const override { return 4; }
  int actions() const override { return 2; }
  double action_limit() const override { return 1.0; }
  int max_steps() const override { return 200; }

  Eigen::VectorXd reset(Generator& generator) override {
    for (double& value : state_) value = generator.uniform(-kStartWithin, kStartWithin);
    return state_;
  }

  Transition step(const Eigen::VectorXd& action) override {
    const double force = action[0] > 0.5 ? kForce : -kForce;
    const double speed = state_[1];
    const double angle = state_[2];
    const double spin = state_[3];
    const double push = (force + kPoleMass * kHalfLength * spin * spin * std::sin(angle)) / kTotalMass;
    const double inertia = kHalfLength * (4.0 / 3.0 - kPoleMass * std::cos(angle) * std::cos(angle) / kTotalMass);
    const double angular = (kGravity * std::sin(angle) - std::cos(angle) * push) / inertia;
    const double linear = push - kPoleMass * kHalfLength * angular * std::cos(angle) / kTotalMass;
    state_ += kSeconds * Eigen::Vector4d(speed, linear, spin, angular);
    const bool fell = std::abs(state_[0]) > kEdge || std::abs(state_[2]) > kLargestAngle;
    return {.observation = state_, .reward = 1.0, .terminal = fell};
  }

 private:
  Eigen::Vector4d state_ = Eigen::Vector4d::Zero();  // position, speed, angle, its speed
};

}  // namespace

std::unique_ptr<Environment> make_cartpole() { return std::make_unique<CartPole>(); }

}  // namespace experiments
