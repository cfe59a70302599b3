#pragma once

#include <string>

#include "bapi/report/table.h"
#include "bapi/tables/simulate.h"

namespace bapi {

struct PolicySimulationOptions {
  std::string table = {};  // as load_table takes it
  PolicySpec policy = {};
  std::string budget = "20full";  // as parse_table_budget takes it
  std::uint64_t seed = 0;
  int workers = 1;
  Checkpoint checkpoint = Checkpoint::kept;
  std::vector<std::string> from = {};  // for a warm start, see earlier_tables
  std::string from_budget = "20full";
};

struct PolicySimulation {
  std::string policy = {};
  std::string table = {};  // its name
  std::uint64_t seed = 0;
  Cost budget = 0.0;
  double overhead_seconds = 0.0;  // processor time of all decisions
  SimulationSummary summary = {};
};

// Runs a policy against recorded learning curves, in simulated time. Throws InvalidInput.
PolicySimulation simulate_policy(const PolicySimulationOptions& options);

// {policy, table, seed, budget, spent, best, regret, normalised_regret, decisions, trials, overhead_seconds,
// trajectory:
// [[spent, best], ...]}, the trajectory last.
Fields simulation_record(const PolicySimulation& run);

}  // namespace bapi
