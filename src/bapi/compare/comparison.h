#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "bapi/compare/overhead.h"
#include "bapi/policy/coverage.h"
#include "bapi/tables/curve_table.h"
#include "bapi/tables/table_budget.h"
#include "bapi/tables/warm_start.h"

namespace bapi {

// A policy under the name that it has in a comparison.
struct ComparedPolicy {
  std::string label;
  PolicySpec spec;
  bool warm = false;  // starts from Comparison::from
  bool operator==(const ComparedPolicy&) const = default;
};

// "bapi:horizon=8", options in the order of their names: one way to write each.
std::string to_text(const PolicySpec& spec);

enum class OverheadCharge {
  none,      // decisions take no simulated time
  measured,  // the processor time of each decision delays the segment that it starts, where the table's unit is seconds
  modelled,  // as measured, with the time that Comparison::models gives: reproducible
};

template <>
inline constexpr auto names<OverheadCharge> = NameTable{Name{OverheadCharge::none, "none"},
                                                        Name{OverheadCharge::measured, "measured"},
                                                        Name{OverheadCharge::modelled, "modelled"}};

// Every table with every policy, seed, budget and number of workers.
struct Comparison {
  std::vector<CurveTable> tables = {};
  std::vector<ComparedPolicy> policies = {};
  std::vector<EarlierTable> from = {};  // earlier studies, made with the seed of each run
  int seeds = 10;                       // how many, one after the other
  std::uint64_t first_seed = 0;
  std::vector<TableBudget> budgets = {};
  std::vector<int> workers = {1};
  Checkpoint checkpoint = Checkpoint::kept;  // none: a run that goes on is trained, and paid, from the start again
  OverheadCharge overhead = OverheadCharge::none;
  std::map<std::string, OverheadModel> models = {};  // label -> what its decisions take, if overheads are modelled

  // Throws InvalidInput: something is empty or stands twice, a policy does not exist or has no such option, a table has
  // no finite value or runs that cost nothing.
  void validate() const;

  std::vector<std::uint64_t> seed_numbers() const;

  bool charges_decisions_on(const CurveTable& table) const;

  // Tables on which decisions are free although overheads are charged, since their cost is not in seconds.
  std::vector<std::string> free_tables() const;
};

// What tells one run from all others.
struct RunKey {
  std::string table;
  std::string policy;  // label
  std::string budget;  // as TableBudget::text
  int workers = 1;
  std::uint64_t seed = 0;
  auto operator<=>(const RunKey&) const = default;
};

std::string to_text(const RunKey& key);

// What came out of one run. A function of the key and the comparison's settings, except for `overhead_seconds` and
// `decision_times` (and for everything if overheads are charged as measured).
struct RunRecord {
  RunKey key;
  std::optional<double> final = {};  // in the user's direction; none if no epoch was finished
  double regret = 0.0;
  double normalised_regret = 0.0;  // 0: the table's best value; 1: the median of the last values
  Cost spent = 0.0;
  int decisions = 0;
  double overhead_seconds = 0.0;  // processor time of all decisions
  std::vector<DecisionTimes> decision_times = {};
  // (fraction of the budget, normalised regret from there on), at every improvement.
  std::vector<std::pair<double, double>> trajectory = {};
  Calibration calibration = {};  // of the predictions that the policy stored, if any
  bool operator==(const RunRecord&) const = default;
};

// All keys: seed by seed, so that a comparison that is broken off has every policy on every table; within a seed the
// dearest budgets first, so that no long run is left for the end.
std::vector<RunKey> keys_of(const Comparison& comparison);

}  // namespace bapi
