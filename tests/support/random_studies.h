#pragma once

#include <gtest/gtest.h>

#include <limits>
#include <string>

#include "bapi/base/rng.h"
#include "bapi/policy/registry.h"
#include "bapi/run/simulate.h"
#include "bapi/run/synthetic.h"
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
  for (const char* flag : {"monotone", "own_term", "clip"}) word(flag, {"on", "off"});
  number("epsilon", 0.0, 1.0);
  number("p", 0.01, 1.0);
  number("kappa", 0.1, 100.0);
  number("rung_ratio", 1.1, 10.0);
  number("initial_epochs", 0.001, 1.0);
  number("initial_share", 0.01, 1.0);
  count("horizon", 1, 4);
  count("initial_runs", 1, 8);
  count("initial_full_runs", 0, 3);
  count("max_rows", 20, 40);
  return spec;
}

// Simulates studies number `first` to `first + studies` - 1: spent never passes the budget, the ledger sums to it, and
// each ends, having asked for no more decisions than there are epochs to train and trials to end.
inline void expect_lawful_studies(int first, int studies) {
  for (int i = first; i < first + studies; ++i) {
    Rng rng = Rng(20230).fork("study", static_cast<std::uint64_t>(i));
    const CurveTable table = random_table(rng);
    const PolicySpec spec = random_bapi(rng);
    const Cost budget = table.mean_full_cost() * 6.0 * rng.uniform();
    const int workers = coin(rng) ? 1 : between(rng, 2, 6);
    SCOPED_TRACE("study " + std::to_string(i) + ", policy " + spec.name);
    const SimulationSummary summary =
        simulate(table, spec, *make_policy(spec), {.budget = budget, .seed = rng.bits() >> 12, .workers = workers});
    EXPECT_EQ(summary.how, TuneEnd::finished) << summary.end;
    EXPECT_LE(summary.spent, budget * (1.0 + 1e-9));
    EXPECT_EQ(ledger_sum(summary.events), summary.spent);
    std::size_t epochs = 0;
    for (const CurveTable::Run& run : table.runs) epochs += run.value.size();
    EXPECT_LE(summary.decisions, static_cast<int>(epochs + 2 * table.runs.size()) + 1);
    if (testing::Test::HasFailure()) return;
  }
}

}  // namespace bapi::test
