#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>

#include "bapi/cli/commands.h"
#include "bapi/cli/exit_code.h"
#include "bapi/cli/listing.h"
#include "bapi/report/sparkline.h"
#include "bapi/studies/policy_input.h"
#include "bapi/studies/simulate_policy.h"
#include "bapi/studies/table_input.h"

namespace bapi {
namespace {

struct SimulateArguments {
  std::string table;
  std::string policy = "bapi";
  std::string budget = "20full";
  std::optional<std::uint64_t> seed;
  std::optional<int> workers;
  bool no_checkpoints = false;
  std::vector<std::string> options;
  std::vector<std::string> from;
  std::optional<std::string> from_budget;
  std::string format = "table";
};

// For people: the best value over the budget, in equal steps of cost.
Cell trajectory_picture(const SimulationSummary& summary, Cost budget) {
  constexpr int kWidth = 60;
  std::vector<double> best(kWidth, std::numeric_limits<double>::quiet_NaN());
  for (const auto& [cost, value] : summary.trajectory) {
    const int step = std::clamp(static_cast<int>(std::ceil(kWidth * cost / budget)) - 1, 0, kWidth - 1);
    std::fill(best.begin() + step, best.end(), value);
  }
  return Cell(sparkline(best, kWidth));
}

int run_simulation(const SimulateArguments& arguments) {
  const Format format = parse_format(arguments.format);
  const PolicySimulation run =
      simulate_policy({.table = arguments.table,
                       .policy = parse_policy(arguments.policy, arguments.options),
                       .budget = arguments.budget,
                       .seed = arguments.seed.value_or(0),
                       .workers = arguments.workers.value_or(1),
                       .checkpoint = arguments.no_checkpoints ? Checkpoint::none : Checkpoint::kept,
                       .from = arguments.from,
                       .from_budget = arguments.from_budget.value_or("20full")});
  Fields record = simulation_record(run);
  if (format == Format::table) {
    record.pop_back();
    record.emplace_back("trajectory", trajectory_picture(run.summary, run.budget));
  }
  print(render(record, format));
  note(fmt::format("ended: {}", run.summary.end));
  return kDone;
}

}  // namespace

Command simulate_command() {
  return {
      .name = "simulate",
      .summary = "Run a policy on recorded learning curves",
      .examples =
          "Examples:\n"
          "  bapi simulate synthetic:crossing --policy bapi --budget 20full --seed 1\n"
          "  bapi simulate mlp.bapi -p hyperband     what would Hyperband have found?\n"
          "  bapi simulate curves.csv --policy bapi --option horizon=8 -w 4 -f json\n"
          "  bapi simulate new.csv --from old.bapi -b 5full     with a warm start\n\n"
          "TABLE is one of\n"
          "  NAME.bin         a table in the LCT1 format, with NAME.json next to it\n"
          "  NAME.csv         a table as text, see below\n"
          "  NAME.bapi        the trials of a study. Stopped trials end where they were,\n"
          "                   failed ones crash in the epoch after their last; only\n"
          "                   completed ones tell what a full training costs\n"
          "  FILE.json:TASK   a surrogate network, with FILE.weights next to it. Options\n"
          "                   after commas: rows=1500 configurations to draw, seed=0 for\n"
          "                   the draw, any: allow every configuration\n"
          "  synthetic:SHAPE  synthetic curves: power-law, sigmoid, diverging, crossing\n"
          "                   or late (nothing above chance for a third of the epochs).\n"
          "                   Options after commas: rows=200, dims=3, epochs=50, seed=0,\n"
          "                   cost_ratio=10 (most expensive over cheapest epoch),\n"
          "                   noise=0.005, failures=0 (share of trainings that fail by bad\n"
          "                   luck), crash=0 (share of the configurations, those with the\n"
          "                   largest x1, that always fail), as in\n"
          "                   synthetic:crossing,rows=500,seed=2,failures=0.05\n\n"
          "A CSV table has one line per configuration and epoch below a YAML header in comments:\n"
          "  # metric: {name: accuracy, goal: maximize}\n"
          "  # cost_unit: s\n"
          "  # parameters:\n"
          "  #   lr: {min: 1e-5, max: 1, log: true}\n"
          "  #   optimizer: {values: [sgd, adam]}\n"
          "  lr,optimizer,epoch,accuracy,cost\n"
          "  0.01,adam,1,0.52,3.1\n"
          "  0.01,adam,2,0.61,3.0\n"
          "Parameters are written as in a study file. Columns may be in any order; the epochs of a configuration must\n"
          "be in order, from 1. A value of nan is a crash. cost is the cost of one epoch (default 1); cost_unit: s\n"
          "(optional) says that costs are seconds.\n\n"
          "The budget is in the table's unit of cost, or 20full: 20 times the mean cost of a full training.\n"
          "JSON: {policy, table, seed, budget, spent, best, regret, normalised_regret, decisions, trials,\n"
          "failed, overhead_seconds, trajectory: [[spent, best], ...]}; best is null if no epoch was finished.",
      .declare = [](Arguments& arguments) -> std::function<int()> {
        const auto parsed = std::make_shared<SimulateArguments>();
        arguments.positional("TABLE", parsed->table, kTableHelp);
        arguments.option("-p,--policy", parsed->policy, "Policy to use (see bapi policies); default bapi");
        arguments.option("-b,--budget", parsed->budget, "Budget in the table's unit of cost, or Nfull; default 20full");
        arguments.option("--seed", parsed->seed, "Random seed; default 0");
        arguments.option("-w,--workers", parsed->workers, "Number of simulated workers; default 1");
        arguments.flag("--no-checkpoints", parsed->no_checkpoints, kNoCheckpointsHelp);
        arguments.options("-o,--option", parsed->options, "Option of the policy, NAME=VALUE; may be repeated");
        arguments.options("--from", parsed->from, std::string(kFromTableHelp) + "; may be repeated");
        arguments.option("--from-budget", parsed->from_budget, kFromBudgetHelp);
        arguments.option("-f,--format", parsed->format, "Output format: table, json or csv");
        return [parsed] { return run_simulation(*parsed); };
      }};
}

}  // namespace bapi
