#pragma once

#include "bapi/policy/initial_design.h"
#include "bapi/policy/registry.h"

namespace bapi {

struct EiOptions {
  InitialDesign design{.epochs = 1.0};
};

// Bayesian optimisation as it is usually done: a Gaussian process over configurations, every run trained to the end,
// the next one where the expected improvement is largest. Knows neither costs nor learning curves.
class ExpectedImprovement : public Policy {
 public:
  static PolicyInfo info();
  explicit ExpectedImprovement(const PolicySpec& spec);

  std::string_view name() const override { return "ei"; }
  Decision ask(const History& history, Rng& rng) override;

 private:
  EiOptions options_;
};

}  // namespace bapi
