#include "bapi/studies/simulate_policy.h"

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
  run.summary = simulate(
      table,
      options.policy,
      timed,
      {.budget = run.budget, .seed = options.seed, .workers = options.workers, .checkpoint = options.checkpoint});
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
          {"overhead_seconds", run.overhead_seconds},
          {"trajectory", trajectory_cell(summary)}};
}

}  // namespace bapi
