#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <string>
#include <vector>

#include "bapi/base/rng.h"
#include "bapi/policy/registry.h"
#include "bapi/tables/simulate.h"
#include "bapi/tables/synthetic.h"
#include "tests/support/ledger.h"

namespace bapi::test {

inline bool coin(Rng& rng, double probability = 0.5) { return rng.uniform() < probability; }
inline int between(Rng& rng, int low, int high) { return low + rng.below(high - low + 1); }

// A few short curves of any shape; some runs crash, some end early, epochs may cost the same or very different amounts.
inline CurveTable random_table(Rng& rng) {
  const std::vector<std::string> shapes = curve_shapes();
  CurveTable table = synthetic_table({.shape = parse_curve_shape(shapes[rng.below(static_cast<int>(shapes.size()))]),
                                      .rows = between(rng, 2, 12),
                                      .dimensions = between(rng, 1, 3),
                                      .epochs = between(rng, 2, 12),
                                      .cost_ratio = coin(rng) ? 1.0 : 30.0,
                                      .noise = coin(rng) ? 0.0 : 0.05,
                                      .seed = rng.bits()});
  table.runs.front().value.front() = 0.5;  // a table needs a value
  for (std::size_t i = 1; i < table.runs.size(); ++i) {
    CurveTable::Run& run = table.runs[i];
    const auto at = static_cast<std::size_t>(rng.below(static_cast<int>(run.value.size())));
    if (coin(rng, 0.1)) run.value[at] = std::numeric_limits<double>::quiet_NaN();
    if (coin(rng, 0.2)) {
      run.value.resize(at + 1);
      run.cost.resize(at + 1);
    }
  }
  table.validate();
  return table;
}

// The same curves for a space without a pool: any configuration shows the curve of the nearest row.
inline CurveTable opened(CurveTable table) {
  Matrix x(table.space.encoded_dim(), std::ssize(table.configs));
  for (std::size_t i = 0; i < table.configs.size(); ++i) {
    x.col(static_cast<Eigen::Index>(i)) = table.space.encode(table.configs[i]);
  }
  table.at_any = [x, space = table.space, runs = table.runs](const Config& config) {
    Eigen::Index nearest = 0;
    (x.colwise() - space.encode(config)).colwise().squaredNorm().minCoeff(&nearest);
    return runs[static_cast<std::size_t>(nearest)];
  };
  return table;
}

// The same curves for a space without a pool that has two configurations for each row.
inline CurveTable made_discrete(CurveTable table) {
  const auto rows = std::ssize(table.configs);
  table.space = Space({{.name = "row", .domain = IntRange{.low = 1, .high = rows}},
                       {.name = "kind", .domain = Choice{.options = {std::string("a"), std::string("b")}}}});
  for (std::size_t i = 0; i < table.configs.size(); ++i) {
    table.configs[i] = {{static_cast<std::int64_t>(i) + 1, std::string("a")}};
  }
  table.at_any = [runs = table.runs](const Config& config) {
    return runs[static_cast<std::size_t>(std::get<std::int64_t>(config.values[0])) - 1];
  };
  return table;
}

// A preset of `bapi` with every knob drawn from its range.
inline PolicySpec random_bapi(Rng& rng) {
  static const std::vector<std::string> presets = {"bapi", "bapi-4", "bapi-8", "bapi-4-l", "bapi-4-nm"};
  PolicySpec spec{.name = presets[rng.below(static_cast<int>(presets.size()))], .options = {}};
  const auto word = [&](const std::string& name, const std::vector<std::string>& words) {
    if (coin(rng)) spec.options[name] = words[rng.below(static_cast<int>(words.size()))];
  };
  const auto number = [&](const std::string& name, double low, double high) {
    if (coin(rng)) spec.options[name] = low + (high - low) * rng.uniform();
  };
  const auto count = [&](const std::string& name, int low, int high) {
    if (coin(rng)) spec.options[name] = std::int64_t{between(rng, low, high)};
  };
  word("loop", {"rungs", "plan"});
  word("target", {"reachable", "incumbent"});
  word("points", {"rungs", "greedy", "last"});
  word("time_kernel", {"ed", "rbf", "auto"});
  word("acquisition", {"ei", "ucb", "pi"});
  word("cost_model", {"log-rate", "linear", "literal"});
  word("reached", {"known", "noisy"});
  for (const char* flag : {"monotone", "own_term", "clip", "warp"}) word(flag, {"on", "off"});
  number("epsilon", 0.0, 1.0);
  number("p", 0.01, 1.0);
  number("kappa", 0.1, 100.0);
  number("rung_ratio", 1.1, 10.0);
  number("initial_epochs", 0.001, 1.0);
  number("initial_share", 0.01, 1.0);
  count("horizon", 1, 8);
  count("initial_runs", 1, 8);
  count("initial_full_runs", 0, 3);
  count("max_rows", 20, coin(rng) ? 40 : 1500);
  return spec;
}

// Every decision trains a further epoch or ends a trial, so there are no more of them than there are epochs to pay for.
inline int most_decisions(const CurveTable& table, Cost budget) {
  std::size_t epochs = 0;
  Cost cheapest = std::numeric_limits<Cost>::infinity();
  for (const CurveTable::Run& run : table.runs) {
    epochs += run.value.size();
    for (const Cost cost : run.cost) cheapest = std::min(cheapest, cost);
  }
  const int paid = static_cast<int>(budget / cheapest) + 1;
  return table.at_any ? 3 * paid + 1 : static_cast<int>(epochs + 2 * table.runs.size()) + 1;
}

inline bool starts_one_twice(const std::vector<StoredEvent>& events) {
  std::vector<Config> started;
  for (const StoredEvent& stored : events) {
    const auto* start = std::get_if<TrialStarted>(&stored.event);
    if (!start) continue;
    if (std::find(started.begin(), started.end(), start->config) != started.end()) return true;
    started.push_back(start->config);
  }
  return false;
}

// Simulates studies number `first` to `first + studies` - 1: spent never passes the budget, the ledger sums to it, no
// configuration is begun twice, and each ends, having asked for no more decisions than there can be.
inline void expect_lawful_studies(int first, int studies) {
  for (int i = first; i < first + studies; ++i) {
    Rng rng = Rng(20230).fork("study", static_cast<std::uint64_t>(i));
    CurveTable table = random_table(rng);
    const PolicySpec spec = random_bapi(rng);
    const Cost budget = table.mean_full_cost() * 6.0 * rng.uniform();
    const int workers = coin(rng) ? 1 : between(rng, 2, 6);
    const std::uint64_t seed = rng.bits() >> 12;
    const Checkpoint checkpoint = coin(rng, 0.25) ? Checkpoint::none : Checkpoint::kept;
    if (coin(rng)) table = coin(rng) ? opened(std::move(table)) : made_discrete(std::move(table));
    SCOPED_TRACE("study " + std::to_string(i) + ", policy " + spec.name);
    const SimulationSummary summary =
        simulate(table,
                 spec,
                 *make_policy(spec),
                 {.budget = budget, .seed = seed, .workers = workers, .checkpoint = checkpoint});
    EXPECT_EQ(summary.how, TuneEnd::finished) << summary.end;
    EXPECT_LE(summary.spent, budget * (1.0 + 1e-9));
    EXPECT_EQ(ledger_sum(summary.events), summary.spent);
    EXPECT_FALSE(starts_one_twice(summary.events));
    EXPECT_LE(summary.decisions, most_decisions(table, budget));
    if (testing::Test::HasFailure()) return;
  }
}

}  // namespace bapi::test
