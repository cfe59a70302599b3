#include "bapi/policy/new_configs.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>

#include "bapi/acquisition/improvement.h"
#include "bapi/acquisition/search.h"
#include "bapi/policy/fresh.h"

namespace bapi {
namespace {

// The columns of `points` at the last epoch, each a configuration of its own.
Rows last_epoch_rows(const History& history, const Matrix& points) {
  const Epoch max_epoch = history.spec().epochs.max;
  std::vector<Epoch> epochs(static_cast<std::size_t>(points.cols()), max_epoch);
  std::vector<CurveId> groups(epochs.size());
  std::iota(groups.begin(), groups.end(), static_cast<CurveId>(history.trials().size()));
  return Rows::at_epochs(points.transpose(), std::move(epochs), max_epoch, std::move(groups));
}

// Curves with values of which the model has none.
std::set<CurveId> curves_left_out(const Evidence& evidence, const Surrogate& model) {
  std::set<CurveId> left_out;
  for (const LearningCurve& curve : evidence.curves()) {
    if (!curve.values.empty()) left_out.insert(curve.id);
  }
  for (const CurveId known : model.rows().group) left_out.erase(known);
  return left_out;
}

Vector log_improvements(const Surrogate& model, const Rows& rows, double best) {
  const Moments moments = model.predict(rows);
  Vector values(rows.size());
  for (Eigen::Index i = 0; i < values.size(); ++i) {
    values[i] = log_expected_improvement(moments.mean[i], std::sqrt(moments.variance[i]), best);
  }
  return values;
}

}  // namespace

Vector nearest_valid(const Space& space, const Vector& x) { return space.encode(space.decode(x)); }

Matrix best_tried(const Evidence& evidence, int count) {
  std::vector<const Trial*> trials;
  for (const Trial& trial : evidence.history().trials()) {
    if (!trial.curve.empty()) trials.push_back(&trial);
  }
  std::stable_sort(
      trials.begin(), trials.end(), [](const Trial* a, const Trial* b) { return a->curve.best() > b->curve.best(); });
  trials.resize(std::min(trials.size(), static_cast<std::size_t>(count)));
  Matrix x(evidence.spec().space.encoded_dim(), std::ssize(trials));
  for (std::size_t i = 0; i < trials.size(); ++i) {
    x.col(static_cast<Eigen::Index>(i)) = evidence.x()[static_cast<std::size_t>(index(trials[i]->id))];
  }
  return x;
}

std::vector<Candidate> new_configs(const Evidence& evidence, const Surrogate& model, double best, Rng& rng) {
  const History& history = evidence.history();
  if (std::optional<std::vector<Candidate>> listed = untried_list(history)) return *std::move(listed);
  const Space& space = history.spec().space;
  const auto score = [&](const Matrix& points) {
    return log_improvements(model, last_epoch_rows(history, points), best);
  };
  const SearchObjective improvement{
      .screen = score, .score = score, .ascend = [&](const Matrix& points, Vector& values, Matrix& gradients) {
        const ImprovementGradients at = log_expected_improvement(model, last_epoch_rows(history, points), best);
        values = at.log_values;
        gradients = at.gradients;
      }};
  const SearchObjective objective = times(improvement, evidence.failures().factor(), space.encoded_dim());
  const Decoder decode = [&](const Vector& x) { return nearest_valid(space, x); };
  std::vector<Candidate> candidates;
  const auto add = [&](Config config) {
    if (is_tried(history, config)) return;
    candidates.push_back(new_candidate(history, std::move(config), static_cast<int>(candidates.size())));
  };
  constexpr int kAnchors = 3;
  const Matrix screen = free_screen_points(
      space.encoded_dim(),
      best_tried(evidence, kAnchors),
      SearchOptions{}.raw_points,
      decode,
      [&](const Vector& x) { return is_tried(history, space.decode(x)); },
      rng);
  if (screen.cols() > 0) {
    for (const ScoredPoint& point : search_among(objective, screen, decode, {})) add(space.decode(point.x));
  }
  if (!candidates.empty()) return candidates;
  if (std::optional<Config> config = fresh_config(history)) add(*std::move(config));
  return candidates;
}

std::vector<Candidate> paused_and_new(const Evidence& evidence, const Surrogate& model, double best, const Rng& rng) {
  std::vector<Candidate> candidates = paused_candidates(evidence);
  const std::set<CurveId> left_out = curves_left_out(evidence, model);
  std::erase_if(candidates, [&](const Candidate& candidate) { return left_out.contains(candidate.group); });
  Rng stream = rng.fork("new configurations");
  for (Candidate& candidate : new_configs(evidence, model, best, stream)) candidates.push_back(std::move(candidate));
  return candidates.empty() ? paused_candidates(evidence) : candidates;
}

}  // namespace bapi
