#pragma once

#include "bapi/model/boil_model.h"
#include "bapi/policy/initial_design.h"
#include "bapi/policy/registry.h"

namespace bapi {

struct BoilOptions {
  InitialDesign design{.epochs = 1.0};
  BoilModelOptions model = {};
};

// Chooses configuration and number of epochs together, where the expected improvement of a score that compresses the
// whole curve into one number is largest in proportion to its cost. A configuration that is chosen again for more
// epochs goes on from where it stands.
class Boil : public Policy {
 public:
  static PolicyInfo info();
  explicit Boil(const PolicySpec& spec);

  std::string_view name() const override { return "boil"; }
  Decision ask(const History& history, Rng& rng) override;

 private:
  BoilOptions options_;
};

}  // namespace bapi
