#include "bapi/tables/simulate.h"

#include <fmt/format.h>

#include "bapi/base/error.h"
#include "bapi/store/memory_store.h"
#include "bapi/tables/table_evaluator.h"

namespace bapi {
namespace {

// (spent, best so far in the user's direction) at every improvement.
std::vector<std::pair<Cost, double>> improvements(Goal goal, const std::vector<StoredEvent>& events) {
  const auto better = [&](double a, double b) { return goal == Goal::maximize ? a > b : a < b; };
  Cost spent = 0.0;
  std::vector<std::pair<Cost, double>> trajectory;
  for (const StoredEvent& stored : events) {
    if (const auto* overhead = std::get_if<Overhead>(&stored.event)) spent += overhead->cost;
    const auto* measured = std::get_if<Measured>(&stored.event);
    if (!measured) continue;
    spent += measured->measurement.cost;
    const double value = measured->measurement.value;
    if (trajectory.empty() || better(value, trajectory.back().second)) trajectory.emplace_back(spent, value);
  }
  return trajectory;
}

}  // namespace

SimulationSummary simulate(const CurveTable& table,
                           const PolicySpec& spec,
                           Policy& policy,
                           const SimulationOptions& options) {
  require(table.has_result(), fmt::format("{}: no finite value of {}", table.name, table.metric.name));
  StudySpec study = study_of(table, options.budget, spec, options.seed, options.workers);
  study.checkpoint = options.checkpoint;
  MemoryStore store(std::move(study));
  ManualClock clock;
  Session session(store, policy, clock);
  TableEvaluator evaluator(table, store.spec(), clock, {.overhead = options.overhead});
  constexpr double kNever = 1e300;
  TuneOptions loop;
  loop.tick = kNever;
  loop.interrupt = options.interrupt;
  const TuneSummary end = tune(session, evaluator, clock, loop);

  const History& history = session.history();
  SimulationSummary summary{.spent = history.budget().spent(),
                            .decisions = history.decisions(),
                            .trials = static_cast<int>(history.trials().size()),
                            .how = end.end,
                            .end = end.reason,
                            .events = store.events(0)};
  summary.trajectory = improvements(table.metric.goal, summary.events);
  const double range = table.best() - table.median_final();
  if (history.incumbent()) {
    const double incumbent = history.trial(*history.incumbent()).curve.best();
    summary.best = history.in_user_units(incumbent);
    summary.regret = table.best() - incumbent;
    summary.normalised_regret = range > 0.0 ? summary.regret / range : 0.0;
  } else {
    summary.regret = kRegretCap * range;
    summary.normalised_regret = kRegretCap;
  }
  return summary;
}

}  // namespace bapi
