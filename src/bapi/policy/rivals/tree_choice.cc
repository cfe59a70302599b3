#include "bapi/policy/rivals/tree_choice.h"

#include <cmath>

namespace bapi {
namespace {

// Single points that starts are put together from.
constexpr int kPromising = 32;

}  // namespace

Matrix tree_starts(const ConfigurationModel& model, const FantasyTree& tree, Rng& rng, int count) {
  return tree_screen(tree, count, promising_points(model.gp, model.best, kPromising, rng), rng);
}

SearchOptions tree_ascents(int starts) {
  return {.starts = starts, .ascent = {.max_iterations = 100, .relative_tolerance = 1e-6, .gradient_tolerance = 1e-5}};
}

std::optional<TreeChoice> best_root(const Evidence& evidence,
                                    const SearchObjective& improvement,
                                    const FantasyTree& tree,
                                    const Matrix& screen,
                                    const SearchOptions& options) {
  const NearestUntried untried(evidence.history());
  const Eigen::Index d = screen.rows() / tree.nodes();
  const SearchObjective objective = times(improvement, evidence.failures().factor(), d);
  std::optional<TreeChoice> best;
  std::vector<ScoredPoint> found = search_among(objective, screen, {}, options);
  found.resize(std::min(found.size(), static_cast<std::size_t>(options.starts)));
  for (const ScoredPoint& end : found) {
    const std::optional<Candidate> root = untried.nearest(end.x.head(d));
    if (!root) continue;
    Vector points = end.x;
    points.head(d) = root->x;
    const double score = objective.score(points)[0];
    if (std::isfinite(score) && (!best || score > best->log_score)) best = TreeChoice{*root, score};
  }
  return best;
}

}  // namespace bapi
