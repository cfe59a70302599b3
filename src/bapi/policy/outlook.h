#pragma once

#include <vector>

#include "bapi/gp/exact_gp.h"
#include "bapi/policy/candidates.h"

namespace bapi {

// How the value that a paused trial has reached enters forecasts of its further course.
enum class Reached {
  known,  // as it is: only the further course is uncertain
  noisy,  // as one more noisy observation of the curve
};

// Where the candidates are expected to be at `epochs`, one each.
//
// What a model of all curves cannot explain counts as its noise, and the noise is mostly misfit: a curve that has been
// flat for long would keep a chance to end where its neighbours are. So a paused trial goes on from where it is.
Moments outlook(const ExactGp& gp,
                const std::vector<Candidate>& candidates,
                const std::vector<Epoch>& epochs,
                Epoch max_epoch,
                Reached reached);

}  // namespace bapi
