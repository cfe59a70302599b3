#include "bapi/tables/warm_start.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "bapi/base/error.h"
#include "bapi/policy/registry.h"
#include "bapi/study/direction.h"
#include "bapi/tables/simulate.h"

namespace bapi {
namespace {

constexpr std::size_t kMostTrials = 100;
constexpr std::size_t kBestTrials = 30;

// The best value so far, to be maximised, up to the first that is not finite and to epoch `most`.
std::vector<double> best_so_far(const CurveTable::Run& run, Goal goal, Epoch most) {
  std::vector<double> best;
  for (const double value : run.value) {
    if (!std::isfinite(value) || std::ssize(best) == most) break;
    const double upward = oriented(value, goal);
    best.push_back(best.empty() ? upward : std::max(best.back(), upward));
  }
  return best;
}

// Whether it is known that nothing more was to come: it ended by itself, before its last epoch.
bool ended_by_itself(const CurveTable::Run& run, const CurveTable& table, std::size_t kept) {
  return run.complete && kept == run.value.size() && std::ssize(run.value) < table.max_epoch;
}

EarlierTrial thinned(Config config, const std::vector<double>& best, bool ended) {
  EarlierTrial trial{.config = std::move(config), .ended = ended};
  for (std::size_t epoch = best.size(); epoch >= 1; epoch /= 2) {
    trial.epochs.insert(trial.epochs.begin(), static_cast<Epoch>(epoch));
    trial.values.insert(trial.values.begin(), best[epoch - 1]);
  }
  return trial;
}

// The best first; beyond the limit some of the others.
std::vector<EarlierTrial> most_telling(std::vector<EarlierTrial> trials) {
  std::stable_sort(trials.begin(), trials.end(), [](const EarlierTrial& a, const EarlierTrial& b) {
    return a.values.back() > b.values.back();
  });
  if (trials.size() <= kMostTrials) return trials;
  std::vector<EarlierTrial> kept(trials.begin(), trials.begin() + kBestTrials);
  const std::size_t others = trials.size() - kBestTrials;
  const std::size_t places = kMostTrials - kBestTrials;
  for (std::size_t i = 1; i <= places; ++i) kept.push_back(trials[kBestTrials + i * others / places - 1]);
  return kept;
}

std::vector<std::string> names_of(const Space& space) {
  std::vector<std::string> names;
  for (const Param& param : space.params()) names.push_back(param.name);
  return names;
}

}  // namespace

EarlierStudy earlier_study(const CurveTable& table, const StudySpec& study) {
  EarlierStudy earlier{.name = table.name, .missing = missing_in(table.space, study.space)};
  require(std::ssize(earlier.missing) < study.space.unit_dim(),
          fmt::format("{} has none of this study's parameters: it has {}, the study {}",
                      table.name,
                      fmt::join(names_of(table.space), ", "),
                      fmt::join(names_of(study.space), ", ")));
  std::vector<EarlierTrial> trials;
  int without_value = 0;
  for (std::size_t i = 0; i < table.runs.size(); ++i) {
    const std::vector<double> best = best_so_far(table.runs[i], table.metric.goal, study.epochs.max);
    if (best.empty()) {
      ++without_value;
      continue;
    }
    std::optional<Config> config = translated(table.configs[i], table.space, study.space);
    if (!config) {
      ++earlier.left_out;
      continue;
    }
    trials.push_back(thinned(*std::move(config), best, ended_by_itself(table.runs[i], table, best.size())));
  }
  require(
      without_value < std::ssize(table.runs),
      fmt::format(
          "{}: no trial has reported a value of {}, so there is nothing to learn from", table.name, table.metric.name));
  require(!trials.empty(),
          fmt::format("{}: all of its {} trials have values that this study's parameters do not allow; widen the "
                      "ranges, or leave it out",
                      table.name,
                      earlier.left_out));
  earlier.trials = most_telling(std::move(trials));
  return earlier;
}

CurveTable earlier_trials(const EarlierTable& source, std::uint64_t seed) {
  if (!source.budget) return source.table;
  const PolicySpec spec;
  const std::unique_ptr<Policy> policy = make_policy(spec);
  const SimulationSummary study =
      simulate(source.table, spec, *policy, {.budget = source.budget->on(source.table), .seed = seed});
  CurveTable trials = table_of(*study.history);
  trials.name = source.table.name;
  return trials;
}

std::vector<CurveTable> earlier_trials(const std::vector<EarlierTable>& sources, std::uint64_t seed) {
  std::vector<CurveTable> trials;
  for (const EarlierTable& source : sources) trials.push_back(earlier_trials(source, seed));
  return trials;
}

}  // namespace bapi
