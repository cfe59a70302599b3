#pragma once

#include <vector>

#include "bapi/base/rng.h"
#include "bapi/policy/candidates.h"
#include "bapi/policy/models.h"

namespace bapi {

struct NewConfigOptions {
  int screened = 512;  // quasi-random configurations that are scored
  int refined = 5;     // of these, starts of a gradient ascent
  int returned = 16;   // of the screened ones, given back beside the refined ones
};

// New configurations worth considering: every untried row of the pool; without a pool the best of a quasi-random screen
// by log EI at the last epoch, and what gradient ascents from the best few lead to, decoded to valid configurations.
// Configurations that were tried already are left out.
std::vector<Candidate> new_configs(const History& history,
                                   const ExactGp& gp,
                                   double best,
                                   const NewConfigOptions& options,
                                   Rng& rng);

}  // namespace bapi
