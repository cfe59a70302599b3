#pragma once

#include <optional>
#include <string>

#include "bapi/policy/bapi_options.h"
#include "bapi/policy/candidates.h"
#include "bapi/policy/models.h"
#include "bapi/policy/registry.h"

namespace bapi {

// Budget-aware planning. A few short runs, then at every decision: fit the learning-curve and the cost model to
// everything known, and train what promises the most improvement per unit of cost within what is left.
//
// The default loop trains a run only to its next rung and then decides again among new and all paused configurations.
// The paper's loop (BapiLoop::plan) follows its plan: runs go to their conservative stop, with a look every p epochs.
class Bapi : public Policy {
 public:
  explicit Bapi(const PolicySpec& spec);

  std::string_view name() const override { return name_; }
  Decision ask(const History& history, Rng& rng) override;

  const BapiOptions& options() const { return options_; }

 private:
  Decision next_rung(const History& history, const Models& models, Rng& rng) const;

  // What a look at a run after a block of epochs came to: it goes on, or why it does not, for the log and for people.
  struct Look {
    std::optional<Resume> goes_on = {};
    std::optional<BlockCheck> ended = {};
    std::string in_words = {};
  };
  Look look_at(const Trial& trial, const History& history, const Models& models) const;

  // The paper's loop: what the trial whose block has just ended should do, and what to run otherwise.
  Decision follow_plan(const History& history, const Models& models, Rng& rng) const;

  std::string name_;
  BapiOptions options_;
};

}  // namespace bapi
