#include "bapi/tables/simulate.h"

#include <fmt/format.h>

#include "bapi/base/error.h"
#include "bapi/store/memory_store.h"
#include "bapi/study/progress.h"
#include "bapi/tables/table_evaluator.h"
#include "bapi/tables/warm_start.h"

namespace bapi {

SimulationSummary simulate(const CurveTable& table,
                           const PolicySpec& spec,
                           Policy& policy,
                           const SimulationOptions& options) {
  require(table.has_result(), fmt::format("{}: no finite value of {}", table.name, table.metric.name));
  StudySpec study = study_of(table, options.budget, spec, options.seed, options.workers);
  study.checkpoint = options.checkpoint;
  for (const CurveTable& earlier : options.from) study.earlier.push_back(earlier_study(earlier, study));
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
                            .events = store.events(0),
                            .history = history};
  for (const SpentReport& report : improvements(store.spec(), summary.events)) {
    summary.trajectory.emplace_back(report.spent, report.best);
  }
  const RegretScale scale = table.regret_scale();
  if (history.incumbent()) {
    const double incumbent = history.trial(*history.incumbent()).curve.best();
    summary.best = history.in_user_units(incumbent);
    summary.regret = scale.regret(incumbent);
    summary.normalised_regret = scale.normalised(incumbent);
  } else {
    summary.regret = kRegretCap * scale.range;
    summary.normalised_regret = kRegretCap;
  }
  return summary;
}

}  // namespace bapi
