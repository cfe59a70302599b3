#pragma once

#include <optional>
#include <string>

#include "bapi/policy/bapi_options.h"

namespace bapi {

// The paper's loop: plan the next runs within the budget and start the one with the most expected improvement per unit
// of cost. Runs go to their conservative stop, with a look every p epochs at whether to end them early.
class PaperPlan : public Policy {
 public:
  PaperPlan(std::string name, BapiOptions options);

  std::string_view name() const override { return name_; }
  Decision ask(const History& history, Rng& rng) override;

  const BapiOptions& options() const { return options_; }

 private:
  // What a look at a run after a block of epochs came to: it goes on, or why it does not, for the log and for people.
  struct Look {
    std::optional<Resume> goes_on = {};
    std::optional<BlockCheck> ended = {};
    std::string in_words = {};
  };
  Look look_at(const Trial& trial, const Planning& planning) const;

  // What the trial whose block has just ended should do, and what to run otherwise.
  Decision follow_plan(const Planning& planning, Rng& rng) const;

  std::string name_;
  BapiOptions options_;
};

}  // namespace bapi
