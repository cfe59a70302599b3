#pragma once

#include <memory>
#include <vector>

#include "bapi/planner/conservative_stop.h"
#include "bapi/planner/horizon.h"
#include "bapi/policy/candidates.h"
#include "bapi/policy/models.h"

namespace bapi {

// By which course it is judged where a curve flattens out.
enum class StopBy {
  forecast,          // the one that is forecast
  constrained_mean,  // the paper's: the mean under the constraint that curves do not fall
};

struct PlanOptions {
  StopBy stop = StopBy::forecast;
  int horizon = 4;  // runs that a plan looks ahead
  std::optional<double> epsilon =
      {};  // tolerance of conservative stops, as a share of the range of values; auto if none
  BatchScore acquisition = BatchScore::improvement;
  double first_look = 0.0;  // share of all epochs before a run is looked at: none is planned to end earlier
};

// What plans, stops and costs of one decision have in common. Refers to its arguments, which must outlive it.
class Planning {
 public:
  Planning(const Evidence& evidence, const Models& models, const PlanOptions& options);

  const Evidence& evidence() const { return evidence_; }
  const Models& models() const { return models_; }

  // The course of a configuration's curve.
  std::unique_ptr<CurveContinuation> curve(const CurveAt& at) const { return models_.surrogate->curve(at.x, at.group); }

  // Where a curve trained so far may stop, and where its forecast flattens out.
  StopRule stop_rule(Epoch done) const;
  Epoch stop_of(const CurveAt& at) const;

  // What a configuration still costs to `until`: only the further epochs where the program keeps checkpoints.
  Cost cost_to(const CurveAt& at, Epoch until) const;

  // Everything that could be trained next, but for new configurations that cannot be listed (see can_be_listed()).
  std::vector<Candidate> candidates() const;

  // The greedy horizon within `budget`, running trials being pending. `candidates` are those of candidates(); new
  // configurations that cannot be listed are searched in the cube.
  Horizon plan(const std::vector<Candidate>& candidates, Cost budget, Rng& rng) const;

 private:
  std::vector<PendingRun> pending() const;

  const Evidence& evidence_;
  const Models& models_;
  PlanOptions options_;
  double epsilon_;  // tolerance of conservative stops, standardised
};

// A share of all epochs, rounded, at least one.
Epoch block_of(const StudySpec& spec, double share);

}  // namespace bapi
