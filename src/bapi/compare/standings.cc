#include "bapi/compare/standings.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>

#include "bapi/base/error.h"

namespace bapi {
namespace {

constexpr double kLevel = 0.05;

// The runs of one budget and number of workers: [policy][table][seed].
using Cube = std::vector<std::vector<std::vector<const RunRecord*>>>;

Cube cube_of(const Comparison& comparison,
             const std::map<RunKey, const RunRecord*>& records,
             const std::string& budget,
             int workers) {
  Cube cube;
  for (const ComparedPolicy& policy : comparison.policies) {
    auto& tables = cube.emplace_back();
    for (const CurveTable& table : comparison.tables) {
      auto& seeds = tables.emplace_back();
      for (const std::uint64_t seed : comparison.seed_numbers()) {
        const auto found = records.find(
            {.table = table.name, .policy = policy.label, .budget = budget, .workers = workers, .seed = seed});
        check(found != records.end(), "rankings_of: a run is missing");
        seeds.push_back(found->second);
      }
    }
  }
  return cube;
}

MeanAndError over_seeds(const std::vector<const RunRecord*>& seeds, double (*measure)(const RunRecord&)) {
  std::vector<double> values;
  for (const RunRecord* run : seeds) values.push_back(measure(*run));
  return mean_and_error(values);
}

double regret_of(const RunRecord& run) { return run.normalised_regret; }
double capped_regret_of(const RunRecord& run) { return capped(run.normalised_regret); }

// [table][policy]: rank of the mean over seeds.
std::vector<std::vector<double>> table_ranks(const Cube& cube) {
  std::vector<std::vector<double>> ranks;
  for (std::size_t t = 0; t < cube.front().size(); ++t) {
    std::vector<double> means;
    for (const auto& tables : cube) means.push_back(over_seeds(tables[t], regret_of).mean);
    ranks.push_back(mean_ranks(means));
  }
  return ranks;
}

// [table][policy]: mean over seeds of the rank within the seed.
std::vector<std::vector<double>> mean_seed_ranks(const Cube& cube) {
  std::vector<std::vector<double>> ranks;
  for (std::size_t t = 0; t < cube.front().size(); ++t) {
    std::vector<double>& sum = ranks.emplace_back(cube.size(), 0.0);
    const std::size_t seeds = cube.front()[t].size();
    for (std::size_t s = 0; s < seeds; ++s) {
      std::vector<double> regrets;
      for (const auto& tables : cube) regrets.push_back(regret_of(*tables[t][s]));
      const std::vector<double> seed_ranks = mean_ranks(regrets);
      for (std::size_t p = 0; p < cube.size(); ++p) sum[p] += seed_ranks[p] / static_cast<double>(seeds);
    }
  }
  return ranks;
}

MeanAndError column(const std::vector<std::vector<double>>& rows, std::size_t at) {
  std::vector<double> values;
  for (const std::vector<double>& row : rows) values.push_back(row[at]);
  return mean_and_error(values);
}

// Tables are fixed, so the variance of their mean is that of the seeds alone.
MeanAndError mean_regret(const std::vector<std::vector<const RunRecord*>>& tables) {
  std::vector<double> means;
  double squares = 0.0;
  for (const auto& seeds : tables) {
    const MeanAndError table = over_seeds(seeds, capped_regret_of);
    means.push_back(table.mean);
    squares += table.error * table.error;
  }
  return {.mean = mean_and_error(means).mean, .error = std::sqrt(squares) / static_cast<double>(tables.size())};
}

double seconds_per_decision(const std::vector<std::vector<const RunRecord*>>& tables) {
  double seconds = 0.0;
  double decisions = 0.0;
  for (const auto& seeds : tables) {
    for (const RunRecord* run : seeds) {
      seconds += run->overhead_seconds;
      decisions += run->decisions;
    }
  }
  return decisions > 0.0 ? seconds / decisions : 0.0;
}

Coverage pooled(const std::vector<std::vector<const RunRecord*>>& tables, Coverage Calibration::*kind) {
  Coverage sum;
  for (const auto& seeds : tables) {
    for (const RunRecord* run : seeds) {
      const Coverage& one = run->calibration.*kind;
      sum.count += one.count;
      sum.within_50 += one.count * one.within_50;
      sum.within_80 += one.count * one.within_80;
      sum.within_95 += one.count * one.within_95;
    }
  }
  if (sum.count == 0) return {};
  return {.count = sum.count,
          .within_50 = sum.within_50 / sum.count,
          .within_80 = sum.within_80 / sum.count,
          .within_95 = sum.within_95 / sum.count};
}

// Mean regret of `rival` less that of `best`, table by table.
std::vector<double> differences(const Cube& cube, std::size_t best, std::size_t rival) {
  std::vector<double> result;
  for (std::size_t t = 0; t < cube[best].size(); ++t) {
    result.push_back(over_seeds(cube[rival][t], regret_of).mean - over_seeds(cube[best][t], regret_of).mean);
  }
  return result;
}

std::vector<Duel> duels_of(const Cube& cube, const Comparison& comparison, std::span<const std::size_t> order) {
  std::vector<Duel> duels;
  std::vector<double> p;
  for (const std::size_t rival : order.subspan(1)) {
    const std::vector<double> d = differences(cube, order.front(), rival);
    Duel& duel = duels.emplace_back();
    duel.rival = comparison.policies[rival].label;
    duel.wins = static_cast<int>(std::count_if(d.begin(), d.end(), [](double x) { return x > 0.0; }));
    duel.losses = static_cast<int>(std::count_if(d.begin(), d.end(), [](double x) { return x < 0.0; }));
    duel.ties = static_cast<int>(d.size()) - duel.wins - duel.losses;
    duel.test = signed_rank_test(d);
    p.push_back(duel.test.p);
  }
  const std::vector<double> adjusted = holm_adjusted(p);
  for (std::size_t i = 0; i < duels.size(); ++i) duels[i].adjusted_p = adjusted[i];
  return duels;
}

std::vector<std::pair<std::size_t, std::size_t>> wilcoxon_groups(const Cube& cube, std::span<const std::size_t> order) {
  std::vector<double> p;
  std::map<std::pair<std::size_t, std::size_t>, std::size_t> place;
  for (std::size_t a = 0; a < cube.size(); ++a) {
    for (std::size_t b = a + 1; b < cube.size(); ++b) {
      place[{a, b}] = p.size();
      p.push_back(signed_rank_test(differences(cube, a, b)).p);
    }
  }
  const std::vector<double> adjusted = holm_adjusted(p);
  return indistinguishable_runs(
      order, [&](std::size_t a, std::size_t b) { return adjusted[place.at(std::minmax(a, b))] < kLevel; });
}

Ranking ranking_of(const Comparison& comparison, const Cube& cube, const std::string& budget, int workers) {
  Ranking ranking{.budget = budget,
                  .workers = workers,
                  .tables = static_cast<int>(comparison.tables.size()),
                  .seeds = comparison.seeds};
  const auto ranks = table_ranks(cube);
  const auto seed_ranks = mean_seed_ranks(cube);
  std::vector<PolicyStanding> standings;
  for (std::size_t p = 0; p < cube.size(); ++p) {
    standings.push_back({.policy = comparison.policies[p].label,
                         .rank = column(ranks, p),
                         .seed_rank = column(seed_ranks, p),
                         .regret = mean_regret(cube[p]),
                         .seconds_per_decision = seconds_per_decision(cube[p]),
                         .value_coverage = pooled(cube[p], &Calibration::value),
                         .cost_coverage = pooled(cube[p], &Calibration::cost)});
  }
  std::vector<std::size_t> order(cube.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return standings[a].rank.mean < standings[b].rank.mean;
  });
  for (const std::size_t p : order) ranking.standings.push_back(standings[p]);
  if (order.size() < 2) return ranking;
  ranking.duels = duels_of(cube, comparison, order);
  ranking.friedman = friedman_test(ranks);
  ranking.critical_difference = nemenyi_difference(static_cast<int>(order.size()), ranking.tables, kLevel);
  ranking.nemenyi_groups =
      indistinguishable_runs(std::span<const std::size_t>(order), [&](std::size_t a, std::size_t b) {
        return std::abs(standings[a].rank.mean - standings[b].rank.mean) > ranking.critical_difference;
      });
  ranking.wilcoxon_groups = wilcoxon_groups(cube, order);
  return ranking;
}

}  // namespace

double capped(double normalised_regret) { return std::min(normalised_regret, kRegretCap); }

std::vector<Ranking> rankings_of(const Comparison& comparison, std::span<const RunRecord> records) {
  std::map<RunKey, const RunRecord*> by_key;
  for (const RunRecord& record : records) by_key[record.key] = &record;
  std::vector<Ranking> rankings;
  for (const TableBudget& budget : comparison.budgets) {
    for (const int workers : comparison.workers) {
      const Cube cube = cube_of(comparison, by_key, budget.text(), workers);
      rankings.push_back(ranking_of(comparison, cube, budget.text(), workers));
    }
  }
  return rankings;
}

}  // namespace bapi
