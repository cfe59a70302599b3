#include "bapi/studies/simulate_policy.h"

#include <algorithm>

#include "bapi/policy/registry.h"
#include "bapi/studies/table_input.h"
#include "bapi/tables/table_budget.h"
#include "bapi/tables/timed_policy.h"

namespace bapi {
namespace {

Cell trajectory_cell(const SimulationSummary& summary) {
  std::vector<Cell> points;
  for (const auto& [cost, best] : summary.trajectory) points.emplace_back(std::vector<Cell>{cost, best});
  return Cell(std::move(points));
}

int failed_trials(const SimulationSummary& summary) {
  const auto trials = summary.history->trials();
  return static_cast<int>(std::count_if(
      trials.begin(), trials.end(), [](const Trial& trial) { return trial.state == TrialState::failed; }));
}

}  // namespace

PolicySimulation simulate_policy(const PolicySimulationOptions& options) {
  const CurveTable table = load_table(options.table);
  const std::unique_ptr<Policy> policy = make_policy(options.policy);
  const ThreadClock clock;
  TimedPolicy timed(*policy, clock);
  PolicySimulation run{.policy = options.policy.name,
                       .table = table.name,
                       .seed = options.seed,
                       .budget = parse_table_budget(options.budget).on(table)};
  const std::vector<CurveTable> from = earlier_trials(earlier_tables(options.from, options.from_budget), options.seed);
  run.summary = simulate(table,
                         options.policy,
                         timed,
                         {.budget = run.budget,
                          .seed = options.seed,
                          .workers = options.workers,
                          .checkpoint = options.checkpoint,
                          .from = from});
  run.overhead_seconds = timed.seconds();
  return run;
}

Fields simulation_record(const PolicySimulation& run) {
  const SimulationSummary& summary = run.summary;
  return {{"policy", run.policy},
          {"table", run.table},
          {"seed", run.seed},
          {"budget", run.budget},
          {"spent", summary.spent},
          {"best", summary.best ? Cell(*summary.best) : Cell()},
          {"regret", summary.regret},
          {"normalised_regret", summary.normalised_regret},
          {"decisions", summary.decisions},
          {"trials", summary.trials},
          {"failed", failed_trials(summary)},
          {"overhead_seconds", run.overhead_seconds},
          {"trajectory", trajectory_cell(summary)}};
}

}  // namespace bapi
