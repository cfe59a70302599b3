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
                       .checkpoint = arguments.no_checkpoints ? Checkpoint::none : Checkpoint::kept});
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
  return {.name = "simulate",
          .summary = "Run a policy against recorded learning curves in simulated time",
          .examples =
              "Examples:\n"
              "  bapi simulate synthetic:crossing --policy bapi --budget 20full --seed 1\n"
              "  bapi simulate mlp.bapi --policy hyperband      what would HyperBand have found on my own logs?\n"
              "  bapi simulate curves.csv --policy bapi --option horizon=8 --workers 4 -f json\n\n"
              "TABLE is one of\n"
              "  NAME.bin            a table in the LCT1 format, with NAME.json beside it\n"
              "  NAME.csv            a table as text, see below\n"
              "  NAME.bapi           the trials of a study. Stopped trials end where they were, failed ones crash in\n"
              "                      the epoch after their last; only completed ones say what a full run costs\n"
              "  FILE.json:TASK      a surrogate network with FILE.weights beside it. Then, after commas: rows=1500\n"
              "                      configurations are drawn, seed=0 of that draw, any: every one can be trained\n"
              "  synthetic:SHAPE     made-up curves: power-law, sigmoid, diverging or crossing. Then, after commas:\n"
              "                      rows=200, dims=3, epochs=50, seed=0, cost_ratio=10 (dearest over cheapest\n"
              "                      epoch), noise=0.005, as in synthetic:crossing,rows=500,seed=2\n\n"
              "A CSV table has a line per configuration and epoch, under a commented header in YAML:\n"
              "  # metric: {name: accuracy, goal: maximize}\n"
              "  # cost_unit: s\n"
              "  # parameters:\n"
              "  #   lr: {min: 1e-5, max: 1, log: true}\n"
              "  #   optimizer: {values: [sgd, adam]}\n"
              "  lr,optimizer,epoch,accuracy,cost\n"
              "  0.01,adam,1,0.52,3.1\n"
              "  0.01,adam,2,0.61,3.0\n"
              "Parameters are written as in a study file. Columns come in any order; the epochs of a configuration\n"
              "in theirs, from 1. A value of nan is a crash. cost is that of the epoch alone; without it, an epoch\n"
              "costs 1. cost_unit may be left out; s says that costs are seconds.\n\n"
              "The budget is in the table's unit of cost, or 20full: 20 times the mean cost of a full run.\n"
              "JSON: {policy, table, seed, budget, spent, best, regret, normalised_regret, decisions, trials,\n"
              "overhead_seconds, trajectory: [[spent, best], ...]}; best is null if no epoch was finished.",
          .declare = [](Arguments& arguments) -> std::function<int()> {
            const auto parsed = std::make_shared<SimulateArguments>();
            arguments.positional("TABLE", parsed->table, kTableHelp);
            arguments.option("-p,--policy", parsed->policy, "Name of a policy, see `bapi policies`; default bapi");
            arguments.option("-b,--budget", parsed->budget, "In the table's unit of cost, or Nfull; default 20full");
            arguments.option("--seed", parsed->seed, "Of the study; default 0");
            arguments.option("-w,--workers", parsed->workers, "Trials at a time; default 1");
            arguments.flag("--no-checkpoints", parsed->no_checkpoints, kNoCheckpointsHelp);
            arguments.options("-o,--option", parsed->options, "An option of the policy, name=value; may be repeated");
            arguments.option("-f,--format", parsed->format, "table, json or csv");
            return [parsed] { return run_simulation(*parsed); };
          }};
}

}  // namespace bapi
