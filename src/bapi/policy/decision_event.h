#pragma once

#include "bapi/policy/decision.h"

namespace bapi {

// What the log says about a decision that is carried out as the policy wants it. Everything that the policy has to
// remember goes along: whoever plays a policy by hand (a benchmark, a test) shows it the history that a study would.

inline TrialStarted event_of(const Start& start, TrialId id) {
  return {.trial = id,
          .config = start.config,
          .until = start.until,
          .expected_cost = start.expected_cost,
          .why = start.why,
          .assignment = start.assignment};
}

inline TrialResumed event_of(const Resume& resume) {
  return {.trial = resume.trial, .until = resume.until, .expected_cost = resume.expected_cost, .why = resume.why};
}

inline TrialStopped event_of(const Stop& stop) { return {.trial = stop.trial, .why = stop.why}; }

}  // namespace bapi
