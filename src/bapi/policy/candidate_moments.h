#pragma once

#include <vector>

#include "bapi/model/curve_surrogate.h"
#include "bapi/policy/candidates.h"

namespace bapi {

// Where the candidates are expected to be at `epochs`, one each. `fluctuation` is the variance with which the value
// that a paused trial has reached is known; no less than the model's noise leaves it at that.
//
// What a model of all curves cannot explain counts as its noise, and the noise is mostly misfit: a curve that has been
// flat for long would keep a chance to end where its neighbours are. So a paused trial goes on from where it is, as far
// as its curve does not jump about.
Moments candidate_moments(const CurveSurrogate& model,
                          const std::vector<Candidate>& candidates,
                          const std::vector<Epoch>& epochs,
                          Epoch max_epoch,
                          double fluctuation);

}  // namespace bapi
