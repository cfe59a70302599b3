// What a warm start is worth on recorded curves:
//
//   bench_warm_start related|shuffled|misleading OLD NEW BUDGETS FIRST_SEED SEEDS
//
// `bapi` runs an earlier study on the table OLD with a budget of ten full trainings, and then a new one on the table
// NEW with each of BUDGETS (3full,8full): without a warm start; with one that tries the best configurations alone
// (earlier_curves: off); with all of it. One line for each budget and seed: the three normalised regrets. `shuffled`
// gives the curves of OLD to other configurations at random, anew for each seed, so that the earlier study says
// nothing; `misleading` gives the best curve to the worst configuration and so on, so that it says the opposite.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <exception>
#include <limits>
#include <numeric>
#include <string>

#include "bapi/base/error.h"
#include "bapi/base/rng.h"
#include "bapi/base/split.h"
#include "bapi/policy/registry.h"
#include "bapi/studies/table_input.h"
#include "bapi/study/direction.h"
#include "bapi/tables/simulate.h"
#include "bapi/tables/warm_start.h"

namespace bapi {
namespace {

CurveTable shuffled(CurveTable table, std::uint64_t seed) {
  Rng rng = Rng(seed).fork("shuffle");
  for (std::size_t i = table.runs.size() - 1; i > 0; --i) {
    std::swap(table.runs[i], table.runs[static_cast<std::size_t>(rng.below(static_cast<int>(i) + 1))]);
  }
  return table;
}

// To be maximised; the least of all for a run without a value.
double best_value(const CurveTable::Run& run, Goal goal) {
  double best = -std::numeric_limits<double>::infinity();
  for (const double value : run.value) {
    if (std::isfinite(value)) best = std::max(best, oriented(value, goal));
  }
  return best;
}

CurveTable misleading(const CurveTable& table) {
  std::vector<std::size_t> by_value(table.runs.size());
  std::iota(by_value.begin(), by_value.end(), std::size_t{0});
  std::ranges::stable_sort(by_value, {}, [&](std::size_t i) { return best_value(table.runs[i], table.metric.goal); });
  CurveTable turned = table;
  for (std::size_t i = 0; i < by_value.size(); ++i) {
    turned.runs[by_value[i]] = table.runs[by_value[by_value.size() - 1 - i]];
  }
  return turned;
}

CurveTable seen_as(const std::string& kind, const CurveTable& table, std::uint64_t seed) {
  if (kind == "shuffled") return shuffled(table, seed);
  if (kind == "misleading") return misleading(table);
  require(kind == "related", fmt::format("found '{}', expected related, shuffled or misleading", kind));
  return table;
}

double regret(const CurveTable& table,
              const PolicySpec& spec,
              const TableBudget& budget,
              std::uint64_t seed,
              std::span<const CurveTable> from) {
  return simulate(table, spec, *make_policy(spec), {.budget = budget.on(table), .seed = seed, .from = from})
      .normalised_regret;
}

int number(const std::string& text) {
  int value = 0;
  const auto end = std::from_chars(text.data(), text.data() + text.size(), value);
  require(end.ec == std::errc() && end.ptr == text.data() + text.size(), "found '" + text + "', expected a number");
  return value;
}

void measure(const std::vector<std::string>& words) {
  require(words.size() == 6, "usage: bench_warm_start related|shuffled|misleading OLD NEW BUDGETS FIRST_SEED SEEDS");
  const CurveTable old = load_table(words[1]);
  const CurveTable table = load_table(words[2]);
  const PolicySpec whole{.name = "bapi"};
  const PolicySpec tried{.name = "bapi", .options = {{"earlier_curves", "off"}}};
  const int first = number(words[4]);
  for (int seed = first; seed < first + number(words[5]); ++seed) {
    const auto stream = static_cast<std::uint64_t>(seed);
    const std::vector<CurveTable> from = {
        earlier_trials({.table = seen_as(words[0], old, stream), .budget = parse_table_budget("10full")}, stream)};
    for (const std::string& text : split(words[3], ',')) {
      const TableBudget budget = parse_table_budget(text);
      fmt::print("{},{},{},{},{}\n",
                 text,
                 seed,
                 regret(table, whole, budget, stream, {}),
                 regret(table, tried, budget, stream, from),
                 regret(table, whole, budget, stream, from));
    }
    std::fflush(stdout);
  }
}

}  // namespace
}  // namespace bapi

int main(int argc, char** argv) {
  try {
    bapi::measure({argv + 1, argv + argc});
    return 0;
  } catch (const std::exception& error) {
    fmt::print(stderr, "bench_warm_start: {}\n", error.what());
    return 2;
  }
}
