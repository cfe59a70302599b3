#pragma once

#include <vector>

#include "bapi/model/expectations.h"
#include "bapi/policy/candidates.h"

namespace bapi {

// Where the candidates are expected to be at `epochs`, one each; see expectations(). `fluctuation` is the variance with
// which the value that a paused trial has reached is known.
Expectations candidate_moments(const CurveModel& model,
                               const CurveSurrogate& curves,
                               const std::vector<Candidate>& candidates,
                               const std::vector<Epoch>& epochs,
                               double fluctuation);

}  // namespace bapi
