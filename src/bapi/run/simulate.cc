#include "bapi/run/simulate.h"

#include <limits>

#include "bapi/run/table_evaluator.h"
#include "bapi/store/memory_store.h"

namespace bapi {
namespace {

std::vector<std::pair<Cost, double>> improvements(const StudySpec& spec, const std::vector<StoredEvent>& events) {
  History history(spec);
  double best = -std::numeric_limits<double>::infinity();
  std::vector<std::pair<Cost, double>> trajectory;
  for (const StoredEvent& stored : events) {
    history.apply(stored.event);
    if (!history.incumbent()) continue;
    const double now = history.trial(*history.incumbent()).curve.best();
    if (now > best) {
      best = now;
      trajectory.emplace_back(history.budget().spent(), history.in_user_units(best));
    }
  }
  return trajectory;
}

}  // namespace

SimulationSummary simulate(const CurveTable& table,
                           const PolicySpec& spec,
                           Policy& policy,
                           const SimulationOptions& options) {
  MemoryStore store(study_of(table, options.budget, spec, options.seed, options.workers));
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
  summary.trajectory = improvements(store.spec(), summary.events);
  const double median = table.median_final();
  const double incumbent = history.incumbent() ? history.trial(*history.incumbent()).curve.best() : median;
  summary.best = history.in_user_units(incumbent);
  summary.regret = table.best() - incumbent;
  summary.normalised_regret = table.best() > median ? summary.regret / (table.best() - median) : 0.0;
  return summary;
}

}  // namespace bapi
