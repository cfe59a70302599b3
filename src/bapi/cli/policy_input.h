#pragma once

#include <string>
#include <vector>

#include "bapi/policy/policy.h"
#include "bapi/study/spec.h"

namespace bapi {

// A policy by name with options "name=value"; numbers and on/off are recognised. Throws InvalidInput on a word without
// '='; whether the policy has such an option is for make_policy to say.
PolicySpec parse_policy(const std::string& name, const std::vector<std::string>& options);

// Measures the time that a policy takes to decide. Refers to the policy.
class TimedPolicy : public Policy {
 public:
  explicit TimedPolicy(Policy& policy) : policy_(policy) {}
  std::string_view name() const override { return policy_.name(); }
  Decision ask(const History& history, Rng& rng) override;
  double seconds() const { return seconds_; }

 private:
  Policy& policy_;
  double seconds_ = 0.0;
};

}  // namespace bapi
