#pragma once

#include <vector>

#include "bapi/policy/registry.h"
#include "bapi/policy/rungs.h"

namespace bapi {

// min, min * eta, min * eta^2, ... below max, and max. Hang from the bottom, unlike those of HyperBand.
std::vector<Epoch> asha_rungs(Epoch min_epoch, Epoch max_epoch, int eta);

// Asynchronous successive halving, the form that promotes: a free worker takes, from the highest rung down, the best
// trial that is among the first floor(n / eta) of the n that have reached its rung and was not promoted yet, and trains
// it to the next rung; if there is none, it starts a new configuration on the lowest rung. Nobody waits for anybody.
//
// When a pool has no configuration left, the best trial of the highest rung goes on, whatever its rank.
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
