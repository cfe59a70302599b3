#pragma once

#include <span>
#include <vector>

#include "bapi/base/clock.h"
#include "bapi/policy/policy.h"

namespace bapi {

struct TimedDecision {
  int trials = 0;  // that the history had
  double seconds = 0.0;
};

// Measures the time that a policy takes to decide, by `clock`. Refers to both.
class TimedPolicy : public Policy {
 public:
  TimedPolicy(Policy& policy, const Clock& clock) : policy_(policy), clock_(clock) {}
  std::string_view name() const override { return policy_.name(); }
  Decision ask(const History& history, Rng& rng) override;

  std::span<const TimedDecision> decisions() const { return decisions_; }
  double seconds() const;

  // The decisions since the last call. Valid until the next decision.
  std::span<const TimedDecision> take_decisions();

 private:
  Policy& policy_;
  const Clock& clock_;
  std::vector<TimedDecision> decisions_;
  std::size_t taken_ = 0;
};

}  // namespace bapi
