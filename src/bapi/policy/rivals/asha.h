#pragma once

#include "bapi/policy/registry.h"
#include "bapi/policy/rungs.h"

namespace bapi {

// Asynchronous successive halving, the form that promotes: every decision is one of the race (race.h).
class Asha : public Policy {
 public:
  static PolicyInfo info();
  explicit Asha(const PolicySpec& spec);

  std::string_view name() const override { return "asha"; }
  Decision ask(const History& history, Rng& rng) override;

 private:
  HalvingOptions options_;
};

}  // namespace bapi
