#include "bapi/policy/rivals/top_k.h"

#include <gtest/gtest.h>

#include "bapi/tables/simulate.h"
#include "tests/support/tables.h"

namespace bapi {
namespace top_k_test {

CurveTable even_table(int rows, Epoch max_epoch) {
  return test::table_of(rows, max_epoch, [](double x, Epoch t) { return x - 1.0 / t; });
}

std::map<std::int64_t, Epoch> reached(const SimulationSummary& summary) {
  std::map<std::int64_t, Epoch> last;
  for (const StoredEvent& stored : summary.events) {
    if (const auto* m = std::get_if<Measured>(&stored.event)) last[index(m->trial)] = m->measurement.epoch;
  }
  return last;
}

SimulationSummary run(const CurveTable& table, const PolicySpec& spec, Cost budget, int workers = 1) {
  return simulate(table, spec, *make_policy(spec), {.budget = budget, .seed = 2, .workers = workers});
}

// 10 full runs of 20 epochs: half of the budget, 100 epochs, pays for 50 runs of 2 epochs; the other half finishes 5.
TEST(TopK, SpendsHalfOnShortRunsAndTheRestOnTheBest) {
  const SimulationSummary summary = run(even_table(300, 20), {.name = "top-k"}, 200.0);
  int finished = 0;
  int begun = 0;
  for (const auto& [trial, epoch] : reached(summary)) {
    if (epoch == 20) {
      ++finished;
    } else if (epoch > 2) {
      ++begun;
    }
  }
  EXPECT_EQ(summary.trials, 50);
  EXPECT_EQ(finished, 5);
  EXPECT_EQ(begun, 1);  // 10 epochs were left
}

TEST(TopK, FinishesTheBestFirst) {
  const CurveTable table = even_table(300, 20);
  const SimulationSummary summary = run(table, {.name = "top-k"}, 200.0);
  std::vector<double> value;  // of each trial's configuration
  std::vector<double> order;
  for (const StoredEvent& stored : summary.events) {
    if (const auto* s = std::get_if<TrialStarted>(&stored.event))
      value.push_back(std::get<double>(s->config.values[0]));
    if (const auto* r = std::get_if<TrialResumed>(&stored.event)) {
      order.push_back(value[static_cast<std::size_t>(index(r->trial))]);
    }
  }
  std::sort(value.rbegin(), value.rend());
  value.resize(order.size());
  EXPECT_EQ(order, value);
}

TEST(TopK, OneEpochTriesAsManyAsHalfTheBudgetHasEpochs) {
  const SimulationSummary summary = run(even_table(300, 20), {.name = "one-epoch"}, 200.0);
  EXPECT_EQ(summary.trials, 100);
}

TEST(TopK, OptionsSetTheLengthOfShortRunsAndTheirShare) {
  const SimulationSummary summary =
      run(even_table(300, 20), {.name = "top-k", .options = {{"epochs", 0.25}, {"explore", 0.25}}}, 200.0);
  EXPECT_EQ(summary.trials, 10);
}

TEST(TopK, SeveralWorkersCountWhatIsOnItsWay) {
  const SimulationSummary summary = run(even_table(300, 20), {.name = "top-k"}, 200.0, 8);
  EXPECT_EQ(summary.trials, 50);
}

}  // namespace top_k_test
}  // namespace bapi
