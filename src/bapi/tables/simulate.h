#pragma once

#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "bapi/control/tune.h"
#include "bapi/policy/policy.h"
#include "bapi/study/history.h"
#include "bapi/tables/curve_table.h"

namespace bapi {

struct SimulationOptions {
  Cost budget = 0.0;
  std::uint64_t seed = 0;
  int workers = 1;
  Checkpoint checkpoint = Checkpoint::kept;
  std::function<Cost()> overhead = {};  // of each start of a segment, see TableEvaluatorOptions
  const std::atomic<bool>* interrupt = nullptr;
  std::span<const CurveTable> from = {};  // earlier studies for a warm start, whatever their metrics are called
};

// The normalised regret of a run without any result. Means over runs count none with more.
inline constexpr double kRegretCap = 1.5;

struct SimulationSummary {
  Cost spent = 0.0;
  std::optional<double> best = {};  // in the user's direction; none if no epoch was finished
  double regret = 0.0;              // the table's best value less the incumbent's
  double normalised_regret = 0.0;   // the same over (best - median final value); 0 if these coincide
  int decisions = 0;
  int trials = 0;
  TuneEnd how = TuneEnd::finished;
  std::string end;                                       // why it ended
  std::vector<std::pair<Cost, double>> trajectory = {};  // (spent, best in the user's direction) at every improvement
  std::vector<StoredEvent> events = {};
  std::optional<History> history = {};  // what they add up to
};

// Runs `policy` against recorded curves, through the same Session, History and Budget as a real run. `spec` of the
// policy only names it in the study.
SimulationSummary simulate(const CurveTable& table,
                           const PolicySpec& spec,
                           Policy& policy,
                           const SimulationOptions& options);

}  // namespace bapi
