#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "bapi/compare/anytime.h"
#include "bapi/compare/run_comparison.h"
#include "bapi/compare/standings.h"

namespace bapi {

// A comparison as people write it.
struct ComparisonInput {
  std::vector<std::string> tables = {};    // as table_names takes them
  std::vector<std::string> policies = {};  // as parse_compared_policy takes them
  std::vector<std::string> from = {};      // compares every policy with and without a warm start from these
  std::string from_budget = "20full";      // of the earlier studies on those that are no studies
  int seeds = 10;
  std::uint64_t first_seed = 0;
  std::vector<std::string> budgets = {"5full", "20full"};  // as parse_table_budget takes them
  std::vector<int> workers = {1};
  int draw = 1500;  // configurations of a surrogate network
  Checkpoint checkpoint = Checkpoint::kept;
  enum class Charge { none, measured };  // of decisions
  Charge charge = Charge::none;
  std::filesystem::path overhead_from = {};  // charges what decisions took in the comparison that was written there
};

// With all tables read. Those of equal names are called after where they come from. Throws InvalidInput.
Comparison comparison_of(const ComparisonInput& input);

struct ComparisonResult {
  ComparisonEnd end = ComparisonEnd::finished;
  int finished = 0;  // runs that are kept
  // Of a finished comparison:
  std::vector<RunRecord> records = {};
  std::vector<Ranking> rankings = {};
  std::vector<AnytimeCurve> curves = {};
  std::vector<std::filesystem::path> files = {};
};

// Does the runs that `directory` does not hold yet, ranks the policies, and writes runs.csv, ranks.csv, curves.csv,
// report.html and the figures over all tables, ranks.svg and anytime.svg (those of further budgets and numbers of
// workers are numbered: ranks-2.svg), to it. Interrupted, it keeps the finished runs and writes nothing else.
ComparisonResult compare_policies(const Comparison& comparison,
                                  const std::filesystem::path& directory,
                                  const RunComparisonOptions& options);

}  // namespace bapi
