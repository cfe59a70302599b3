#pragma once

#include <vector>

#include "bapi/base/rng.h"
#include "bapi/gp/surrogate.h"
#include "bapi/policy/candidates.h"

namespace bapi {

// New configurations worth considering: every untried one of a pool or of a small finite space; otherwise those with
// the largest expected improvement over `best` at the last epoch that a search of the cube finds, valid and not yet
// tried. Empty only if every configuration has been tried.
std::vector<Candidate> new_configs(const Evidence& evidence, const Surrogate& model, double best, Rng& rng);

// Everything that could be trained next: paused trials, and new configurations that may improve on `best`. Trials that
// the model has no room for are the worst, and it would not know that they are (thin() of model/curve_rows.h): they are
// considered when there is nothing else.
std::vector<Candidate> paused_and_new(const Evidence& evidence, const Surrogate& model, double best, const Rng& rng);

// The encoded configurations of the trials with the best values: a search may begin beside them. d x at most `count`.
Matrix best_tried(const Evidence& evidence, int count);

// x -> the encoding of the nearest valid configuration.
Vector nearest_valid(const Space& space, const Vector& x);

}  // namespace bapi
