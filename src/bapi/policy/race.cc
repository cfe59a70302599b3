#include "bapi/policy/race.h"

#include <algorithm>
#include <optional>

#include "bapi/base/error.h"
#include "bapi/policy/fresh.h"
#include "bapi/policy/rungs.h"

namespace bapi {
namespace {

struct Promotion {
  const Trial* trial = nullptr;
  int rung = 0;  // that it leaves
  int rank = 0;
  int reached = 0;  // trials on that rung
};

// The best trial that waits on `rung` and its rank among all that have reached it; ties in order of creation.
std::optional<Promotion> best_waiting(const History& history, const std::vector<Epoch>& rungs, std::size_t rung) {
  std::vector<const Trial*> reached;
  for (const Trial& trial : history.trials()) {
    if (!trial.curve.empty() && has_reached(trial, rungs[rung])) reached.push_back(&trial);
  }
  std::stable_sort(reached.begin(), reached.end(), [&](const Trial* a, const Trial* b) {
    return value_at(*a, rungs[rung]) > value_at(*b, rungs[rung]);
  });
  for (std::size_t rank = 0; rank < reached.size(); ++rank) {
    if (!reached[rank]->resumable() || reached[rank]->curve.last_epoch() >= rungs[rung + 1]) continue;
    return Promotion{.trial = reached[rank],
                     .rung = static_cast<int>(rung),
                     .rank = static_cast<int>(rank),
                     .reached = static_cast<int>(reached.size())};
  }
  return std::nullopt;
}

Resume promote(const Promotion& promotion, const std::vector<Epoch>& rungs, Rule rule) {
  return {
      .trial = promotion.trial->id,
      .until = rungs[static_cast<std::size_t>(promotion.rung) + 1],
      .why = {.rule = rule,
              .standing = RungStanding{.rung = promotion.rung, .rank = promotion.rank, .reached = promotion.reached}}};
}

}  // namespace

std::vector<Epoch> race_rungs(Epoch min_epoch, Epoch max_epoch, int eta) {
  check(min_epoch >= 1 && max_epoch >= min_epoch && eta >= 2, "race_rungs: bad arguments");
  std::vector<Epoch> rungs;
  for (std::int64_t epoch = min_epoch; epoch < max_epoch; epoch *= eta) rungs.push_back(static_cast<Epoch>(epoch));
  rungs.push_back(max_epoch);
  return rungs;
}

Decision race(const History& history, const std::vector<Epoch>& rungs, int eta) {
  for (const Trial& trial : history.trials()) {
    if (!trial.resumable() || has_reached(trial, rungs.front()))
      continue;  // cut short by a budget that was raised since
    return Resume{.trial = trial.id, .until = rungs.front(), .why = {.rule = Rule::finish_begun}};
  }

  std::vector<Promotion> waiting;  // the best of each rung, the highest rung first
  for (std::size_t rung = rungs.size() - 1; rung-- > 0;) {
    const std::optional<Promotion> best = best_waiting(history, rungs, rung);
    if (!best) continue;
    if (best->rank < best->reached / eta) return promote(*best, rungs, Rule::best_of_rung);
    waiting.push_back(*best);
  }
  if (const std::optional<Config> config = fresh_config(history)) {
    return Start{.config = *config, .until = rungs.front(), .why = {.rule = Rule::lowest_rung}};
  }
  if (!waiting.empty()) return promote(waiting.front(), rungs, Rule::nothing_new);
  return nothing_to_do(history, kPoolExhausted);
}

}  // namespace bapi
