#pragma once

#include "bapi/policy/registry.h"

namespace bapi {

struct TopKOptions {
  double epochs = 0.1;   // share of all epochs of a short run
  double explore = 0.5;  // share of the budget for short runs
};

// Many short runs, then the best of them to the end: successive halving with two rungs.
//
// As in successive halving both rungs get the same: new configurations are trained to a share of the epochs as long as
// these runs, at what they cost on average so far, stay within half of the budget. What is left then trains the best of
// them to the end, the best at the short rung first. So with short runs of a tenth, a budget of B full runs tries 5 B
// configurations and finishes the best 0.55 B.
//
// "top-k" gives short runs 10 % of the epochs, "one-epoch" a single epoch.
class TopK : public Policy {
 public:
  static std::vector<std::string> presets();
  static PolicyInfo info(const std::string& preset);
  explicit TopK(const PolicySpec& spec);

  std::string_view name() const override { return name_; }
  Decision ask(const History& history, Rng& rng) override;

 private:
  bool exploring(const History& history, Epoch rung) const;

  std::string name_;
  TopKOptions options_;
};

}  // namespace bapi
