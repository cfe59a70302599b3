#pragma once

#include <span>
#include <string>
#include <vector>

#include "bapi/compare/comparison.h"
#include "bapi/compare/rank_statistics.h"

namespace bapi {

// Shares of the budget at which anytime curves are given: 0.02, 0.04, ... 1.
std::vector<double> anytime_grid();

// Normalised regret of the incumbent at each point of the grid, capped. Before the first result the cap: to know
// nothing is no better than to have a bad result. Never rises.
std::vector<double> anytime_regret(const RunRecord& run);

// How one policy's incumbent falls, on one table or over all.
struct AnytimeCurve {
  std::string table;  // empty: over all tables
  std::string policy;
  std::string budget;
  int workers = 1;
  std::vector<MeanAndError> regret = {};  // on the grid; errors are those of the seeds
};

// For every budget and number of workers, and within these for all tables together first and then for each table, one
// curve per policy, all in the order of `comparison`. `records` are ordered as records_of gives them.
std::vector<AnytimeCurve> anytime_curves(const Comparison& comparison, std::span<const RunRecord> records);

}  // namespace bapi
