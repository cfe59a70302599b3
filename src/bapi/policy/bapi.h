#pragma once

#include <string>

#include "bapi/policy/bapi_options.h"

namespace bapi {

// Budget-aware planning. A few short runs, then at every decision: fit the learning-curve and the cost model to
// everything known, and train what promises the most improvement per unit of cost within what is left, to its next
// rung. Then it decides again among new and all paused configurations.
class Bapi : public Policy {
 public:
  Bapi(std::string name, BapiOptions options);

  std::string_view name() const override { return name_; }
  Decision ask(const History& history, Rng& rng) override;

  const BapiOptions& options() const { return options_; }

 private:
  Decision train_to_next_rung(const Planning& planning, Rng& rng) const;

  std::string name_;
  BapiOptions options_;
};

}  // namespace bapi
