#include "bapi/policy/candidates.h"

#include "bapi/policy/fresh.h"

namespace bapi {

std::vector<Candidate> paused_candidates(const Evidence& evidence) {
  std::vector<Candidate> candidates;
  for (const Trial& trial : evidence.history().trials()) {
    if (!trial.resumable()) continue;
    CurveAt at = evidence.at(trial);
    candidates.push_back(
        {.config = trial.config, .x = std::move(at.x), .trial = trial.id, .done = at.done, .group = at.group});
  }
  return candidates;
}

std::vector<Candidate> untried_rows(const History& history) {
  const std::vector<Config>& pool = history.spec().pool;
  const std::vector<bool> tried = tried_rows(history);
  std::vector<Candidate> candidates;
  for (std::size_t row = 0; row < pool.size(); ++row) {
    if (!tried[row]) candidates.push_back(new_candidate(history, pool[row], static_cast<int>(row)));
  }
  return candidates;
}

bool can_be_listed(const StudySpec& spec) { return !spec.pool.empty() || is_small(spec.space); }

std::optional<std::vector<Candidate>> untried_list(const History& history) {
  if (!history.spec().pool.empty()) return untried_rows(history);
  std::optional<std::vector<Config>> configs = untried_in_small_space(history);
  if (!configs) return std::nullopt;
  std::vector<Candidate> candidates;
  for (Config& config : *configs) {
    const int offset = static_cast<int>(candidates.size());
    candidates.push_back(new_candidate(history, std::move(config), offset));
  }
  return candidates;
}

Candidate new_candidate(const History& history, Config config, int offset) {
  Vector x = history.spec().space.encode(config);
  return {
      .config = std::move(config), .x = std::move(x), .group = static_cast<CurveId>(history.trials().size()) + offset};
}

Decision train(const Candidate& chosen, Epoch until, Cost expected, Reason why) {
  if (chosen.trial) {
    return Resume{.trial = *chosen.trial, .until = until, .expected_cost = expected, .why = std::move(why)};
  }
  return Start{.config = chosen.config, .until = until, .expected_cost = expected, .why = std::move(why)};
}

Matrix stacked(const std::vector<Candidate>& candidates) {
  Matrix x(std::ssize(candidates), candidates.empty() ? 0 : candidates.front().x.size());
  for (std::size_t i = 0; i < candidates.size(); ++i) x.row(static_cast<Eigen::Index>(i)) = candidates[i].x.transpose();
  return x;
}

Vector log_success(const Evidence& evidence, const std::vector<Candidate>& candidates) {
  return evidence.failures().log_factors(stacked(candidates).transpose());
}

std::vector<Note> notes_of_failures(const Evidence& evidence, const Candidate& chosen) {
  if (!evidence.failures().any()) return {};
  return {{.kind = NoteKind::other, .name = "probability of success", .value = evidence.failures().success(chosen.x)}};
}

}  // namespace bapi
