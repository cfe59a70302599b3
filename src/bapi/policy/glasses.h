#pragma once

#include "bapi/policy/initial_design.h"
#include "bapi/policy/registry.h"

namespace bapi {

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
  InitialDesign design_{.epochs = 1.0};
  int horizon_ = 4;
  int draws_ = 512;
};

}  // namespace bapi
