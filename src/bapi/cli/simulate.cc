#include <fmt/format.h>

#include <memory>

#include "bapi/base/error.h"
#include "bapi/cli/commands.h"
#include "bapi/cli/exit_code.h"
#include "bapi/cli/listing.h"
#include "bapi/cli/policy_input.h"
#include "bapi/cli/table_input.h"
#include "bapi/policy/registry.h"
#include "bapi/run/simulate.h"
#include "bapi/run/table_budget.h"
#include "bapi/run/timed_policy.h"

namespace bapi {
namespace {

struct SimulateArguments {
  std::string table;
  std::string policy = "bapi";
  std::string budget = "20full";
  std::optional<std::uint64_t> seed;
  std::optional<int> workers;
  std::vector<std::string> options;
  std::string format = "table";
};

Cell trajectory_cell(const SimulationSummary& summary) {
  std::vector<Cell> points;
  for (const auto& [cost, best] : summary.trajectory) points.emplace_back(std::vector<Cell>{cost, best});
  return Cell(std::move(points));
}

int run_simulation(const SimulateArguments& arguments) {
  const Format format = parse_format(arguments.format);
  const CurveTable table = load_table(arguments.table);
  const PolicySpec spec = parse_policy(arguments.policy, arguments.options);
  const std::unique_ptr<Policy> policy = make_policy(spec);
  const ThreadClock clock;
  TimedPolicy timed(*policy, clock);
  const SimulationOptions options{.budget = parse_table_budget(arguments.budget).on(table),
                                  .seed = arguments.seed.value_or(0),
                                  .workers = arguments.workers.value_or(1)};
  const SimulationSummary summary = simulate(table, spec, timed, options);
  const Fields record = {{"policy", spec.name},
                         {"table", table.name},
                         {"seed", static_cast<std::int64_t>(options.seed)},
                         {"budget", options.budget},
                         {"spent", summary.spent},
                         {"best", summary.best},
                         {"regret", summary.regret},
                         {"normalised_regret", summary.normalised_regret},
                         {"decisions", summary.decisions},
                         {"trials", summary.trials},
                         {"overhead_seconds", timed.seconds()},
                         {"trajectory", trajectory_cell(summary)}};
  print(render(record, format));
  note(fmt::format("ended: {}", summary.end));
  return kDone;
}

}  // namespace

Command simulate_command() {
  return {.name = "simulate",
          .summary = "Runs a policy against recorded learning curves, in simulated time",
          .examples =
              "Examples:\n"
              "  bapi simulate synthetic:crossing --policy bapi --budget 20full --seed 1\n"
              "  bapi simulate mlp.bapi --policy hyperband      what would HyperBand have found on my own logs?\n"
              "  bapi simulate curves.csv --policy bapi --option horizon=8 --workers 4 -f json\n\n"
              "The budget is in the table's unit of cost, or 20full: 20 times the mean cost of a full run.\n"
              "JSON: {policy, table, seed, budget, spent, best, regret, normalised_regret, decisions, trials,\n"
              "overhead_seconds, trajectory: [[spent, best], ...]}",
          .declare = [](Arguments& arguments) -> std::function<int()> {
            const auto parsed = std::make_shared<SimulateArguments>();
            arguments.positional("TABLE", parsed->table, kTableHelp);
            arguments.option("-p,--policy", parsed->policy, "Name of a policy, see `bapi policies`");
            arguments.option("-b,--budget", parsed->budget, "In the table's unit of cost, or Nfull");
            arguments.option("--seed", parsed->seed, "Of the study; default 0");
            arguments.option("-w,--workers", parsed->workers, "Trials at a time; default 1");
            arguments.options("-o,--option", parsed->options, "An option of the policy, name=value; may be repeated");
            arguments.option("-f,--format", parsed->format, "table, json or csv");
            return [parsed] { return run_simulation(*parsed); };
          }};
}

}  // namespace bapi
