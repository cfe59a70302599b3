#pragma once

#include <span>
#include <vector>

#include "bapi/compare/comparison.h"
#include "bapi/compare/rank_statistics.h"
#include "bapi/tables/simulate.h"

namespace bapi {

// Means over tables count no run with more than kRegretCap, so that one diverged run does not decide over all others.
double capped(double normalised_regret);

// How one policy did at one budget.
struct PolicyStanding {
  std::string policy;

  // Policies are ranked on every table by their mean over the seeds; the mean of that over the tables, with the
  // standard error over the tables.
  MeanAndError rank;

  // Ranked for every table and seed instead, averaged over the seeds of a table first.
  MeanAndError seed_rank;

  // Normalised regret, capped: mean over the tables of the mean over the seeds. The error is that of the seeds, for
  // these very tables.
  MeanAndError regret;

  double seconds_per_decision = 0.0;
  Coverage value_coverage = {};  // pooled over all runs; count 0 if the policy stores no predictions
  Coverage cost_coverage = {};
};

// The best policy against another one, over the tables.
struct Duel {
  std::string rival;
  int wins = 0;  // tables on which the best has the smaller mean regret
  int ties = 0;
  int losses = 0;
  SignedRankTest test;    // of the differences of mean normalised regrets
  double adjusted_p = 1;  // by Holm, over all duels of this budget
};

// What the tables say about the policies at one budget and number of workers.
struct Ranking {
  std::string budget;
  int workers = 1;
  int tables = 0;
  int seeds = 0;
  std::vector<PolicyStanding> standings = {};  // best average rank first
  std::vector<Duel> duels = {};                // the first against the others, in their order
  FriedmanTest friedman = {};
  double critical_difference = 0.0;  // Nemenyi, level 0.05
  // Runs of neighbours in `standings` that cannot be told apart, as (first, last): by the critical difference, and by
  // signed-rank tests of all pairs with Holm's correction.
  std::vector<std::pair<std::size_t, std::size_t>> nemenyi_groups = {};
  std::vector<std::pair<std::size_t, std::size_t>> wilcoxon_groups = {};
};

// One per budget and number of workers, in the order of `comparison`. `records` must hold every run.
std::vector<Ranking> rankings_of(const Comparison& comparison, std::span<const RunRecord> records);

}  // namespace bapi
