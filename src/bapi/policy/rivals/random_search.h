#pragma once

#include "bapi/policy/registry.h"

namespace bapi {

// Uniform configurations, each trained to the last epoch. The yardstick that every other policy has to beat.
class RandomSearch : public Policy {
 public:
  static PolicyInfo info();
  explicit RandomSearch(const PolicySpec& spec);

  std::string_view name() const override { return "random"; }
  Decision ask(const History& history, Rng& rng) override;
};

}  // namespace bapi
