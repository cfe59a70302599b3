#pragma once

#include "bapi/acquisition/fantasy_tree.h"
#include "bapi/policy/initial_design.h"
#include "bapi/policy/registry.h"

namespace bapi {

enum class FantasyRule {
  tree,        // Gauss-Hermite: 10, 5, 3 and then 1 per node
  mean,        // one, at the posterior mean
  random_path  // one, drawn
};

struct MultiStepOptions {
  InitialDesign design{.epochs = 1.0};
  int steps = 4;
  FantasyRule fantasies = FantasyRule::tree;
  double prune = 1e-3;     // fantasies of less weight are left out
  bool cap_steps = false;  // no further ahead than the rest of the budget has full runs
  int starts = 10;
};

// Expected improvement that looks several full runs ahead: the sum over the stages of a tree of what might be observed,
// all its later decisions optimised together with the first, which alone is carried out. Knows neither costs nor
// learning curves. With one step it is "ei".
//
// "ms-ei" looks four runs ahead with 10, 5 and 3 fantasies, "ms-ei-2" two with 10.
class MultiStepImprovement : public Policy {
 public:
  static std::vector<std::string> presets();
  static PolicyInfo info(const std::string& preset);
  explicit MultiStepImprovement(const PolicySpec& spec);

  std::string_view name() const override { return name_; }
  Decision ask(const History& history, Rng& rng) override;

 private:
  int steps_ahead(const History& history) const;
  FantasyTree tree(int steps, Rng& rng) const;

  std::string name_;
  MultiStepOptions options_;
};

}  // namespace bapi
