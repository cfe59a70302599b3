#pragma once

#include "bapi/policy/candidates.h"
#include "bapi/policy/initial_design.h"
#include "bapi/policy/models.h"
#include "bapi/policy/registry.h"

namespace bapi {

struct StepByStepOptions {
  InitialDesign design{.budget_share = 0.25};
  double rung_ratio = 2.0;
};

// Policies that train one configuration to its next rung and then choose again among all, with the learning-curve model
// and the initial design of `bapi`. What differs is the score. They do not look at costs.
class StepByStep : public Policy {
 public:
  Decision ask(const History& history, Rng& rng) override;

 protected:
  explicit StepByStep(const PolicySpec& spec);

  static std::vector<PolicyOptionInfo> common_options();

  // What there is to choose from. `curves` is the model with running trials standing at their expected values; next[i]
  // is the rung to which candidate i would be trained.
  struct Lineup {
    const History& history;
    const Models& models;
    const CurveSurrogate& curves;
    const std::vector<Candidate>& candidates;
    const std::vector<Epoch>& next;
    const Vector& log_success;  // of each candidate, a summand of its score

    Moments at(const std::vector<Epoch>& epochs) const;  // of the candidates, one epoch each

    // What the score looked at, for the log. Told to people is the model's own deviation, as with `bapi`.
    Forecast forecast(std::size_t candidate, Epoch epoch, double mean, double sd, double target) const;
  };

  // The candidate with the largest score and why it has it.
  struct Chosen {
    std::size_t candidate = 0;
    Reason why = {};
  };
  virtual Chosen choose(const Lineup& lineup, Rng& rng) const = 0;

 private:
  Decision train_to_next_rung(const Evidence& evidence, const Models& models, const Rng& rng) const;

  StepByStepOptions options_;
};

// Freeze-thaw with a random horizon and a random threshold: every decision draws how far ahead to look, h from 1 to the
// last epoch, and how large an improvement to hope for, 10^u of the range of values seen with u from -4 to -1; the
// candidate that is likeliest to be better by that much h epochs from now is trained.
class FreezeThaw : public StepByStep {
 public:
  static PolicyInfo info();
  explicit FreezeThaw(const PolicySpec& spec) : StepByStep(spec) {}
  std::string_view name() const override { return "freeze-thaw"; }

 protected:
  Chosen choose(const Lineup& lineup, Rng& rng) const override;
};

// Expected improvement at each candidate's own next rung, over the best value seen up to that epoch (over the best of
// all where nobody has got that far). The idea of DyHPO with our model in place of its deep kernel.
class DyHpo : public StepByStep {
 public:
  static PolicyInfo info();
  explicit DyHpo(const PolicySpec& spec) : StepByStep(spec) {}
  std::string_view name() const override { return "dyhpo"; }

 protected:
  Chosen choose(const Lineup& lineup, Rng& rng) const override;
};

// The best value that any trial had shown by `epoch`, among those trained as far; the best of all if none was.
double best_by_epoch(const History& history, Epoch epoch);

}  // namespace bapi
