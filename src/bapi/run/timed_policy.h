#pragma once

#include <utility>

#include "bapi/base/clock.h"
#include "bapi/policy/policy.h"

namespace bapi {

// Measures the time that a policy takes to decide, by `clock`. Refers to both.
class TimedPolicy : public Policy {
 public:
  TimedPolicy(Policy& policy, const Clock& clock) : policy_(policy), clock_(clock) {}
  std::string_view name() const override { return policy_.name(); }
  Decision ask(const History& history, Rng& rng) override;

  double seconds() const { return seconds_; }

  // What was measured since the last call.
  double take_seconds() { return seconds_ - std::exchange(taken_, seconds_); }

 private:
  Policy& policy_;
  const Clock& clock_;
  double seconds_ = 0.0;
  double taken_ = 0.0;
};

}  // namespace bapi
