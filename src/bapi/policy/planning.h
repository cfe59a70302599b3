#pragma once

#include <vector>

#include "bapi/planner/conservative_stop.h"
#include "bapi/planner/horizon.h"
#include "bapi/policy/bapi_options.h"
#include "bapi/policy/candidates.h"
#include "bapi/policy/models.h"

namespace bapi {

// Tolerance of conservative stops, standardised: the option, or from the retained points of the curves.
double stop_tolerance(const History& history, const Models& models, const BapiOptions& options);

// Epochs of a run between two looks at it (plan loop).
Epoch block_of(const StudySpec& spec, const BapiOptions& options);

StopRule stop_rule(const History& history, Epoch trained, double epsilon);

// Where the forecast of a configuration flattens out.
Epoch stop_of(const History& history, const Models& models, const Vector& x, int group, Epoch trained, double epsilon);

// What a configuration still costs to `until`: only the further epochs where the program keeps checkpoints.
Cost cost_to(const History& history, const Models& models, const Vector& x, Epoch done, Epoch until);

// Everything that could be trained next, but for new configurations that cannot be listed (see can_be_listed()).
std::vector<Candidate> listed_candidates(const History& history);

// The greedy horizon within `budget`, running trials being pending. Candidates are those of listed_candidates(); new
// configurations that cannot be listed are searched in the cube.
Horizon plan_study(const History& history,
                   const Models& models,
                   const std::vector<Candidate>& candidates,
                   const BapiOptions& options,
                   Cost budget,
                   Rng& rng);

}  // namespace bapi
