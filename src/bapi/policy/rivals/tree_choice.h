#pragma once

#include "bapi/acquisition/tree_search.h"
#include "bapi/policy/rivals/full_runs.h"

namespace bapi {

// Where a search over trees begins, (d nodes) x count: see tree_screen().
Matrix tree_starts(const ConfigurationModel& model, const FantasyTree& tree, Rng& rng, int count = 512);

// Settings of that search.
SearchOptions tree_ascents(int starts);

struct TreeChoice {
  Candidate root;
  double log_score = 0.0;  // of the tree with this root
};

// The first decision of the best tree. The trees that the search finds are optimised over the whole cube; each of the
// best is then scored again with its root at the nearest new configuration. The score of a tree is multiplied by the
// probability that its root is trained without failing. Nothing if no tree scores above 0 or every
// configuration found was tried.
std::optional<TreeChoice> best_root(const Evidence& evidence,
                                    const SearchObjective& improvement,
                                    const FantasyTree& tree,
                                    const Matrix& screen,
                                    const SearchOptions& options);

}  // namespace bapi
