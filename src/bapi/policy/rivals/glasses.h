#pragma once

#include "bapi/policy/initial_design.h"
#include "bapi/policy/registry.h"

namespace bapi {

struct GlassesOptions {
  InitialDesign design{.epochs = 1.0};
  int horizon = 4;
  int draws = 512;
};

// Values a full run together with a guess of the runs that would follow it: for every candidate the next ones are taken
// where expected improvement, penalised around the points before, is largest, and the lot is valued by its joint
// improvement. Knows neither costs nor learning curves.
class Glasses : public Policy {
 public:
  static PolicyInfo info();
  explicit Glasses(const PolicySpec& spec);

  std::string_view name() const override { return "glasses"; }
  Decision ask(const History& history, Rng& rng) override;

 private:
  GlassesOptions options_;
};

}  // namespace bapi
