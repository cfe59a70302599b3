#include "bapi/policy/rivals/hyperband.h"

#include <gtest/gtest.h>

#include <limits>

#include "bapi/policy/registry.h"
#include "bapi/tables/simulate.h"
#include "tests/support/tables.h"

namespace bapi {
namespace {

int scratch_epochs(const Bracket& bracket) {
  int sum = 0;
  for (const Rung& rung : bracket) sum += rung.configs * rung.epoch;
  return sum;
}

int resumed_epochs(const Bracket& bracket) {
  int sum = 0;
  Epoch before = 0;
  for (const Rung& rung : bracket) {
    sum += rung.configs * (rung.epoch - before);
    before = rung.epoch;
  }
  return sum;
}

// The tables of Li et al.'s method as HpBandSter computes them: n_0 = floor(S / (s + 1)) eta^s, levels from the top.
TEST(HyperbandBracket, HasTheExactTableForOneTo27) {
  const std::vector<Bracket> expected = {
      {{27, 1}, {9, 3}, {3, 9}, {1, 27}}, {{9, 3}, {3, 9}, {1, 27}}, {{6, 9}, {2, 27}}, {{4, 27}}};
  const std::vector<int> scratch = {108, 81, 108, 108};
  const std::vector<int> resumed = {81, 63, 90, 108};
  for (int b = 0; b < 4; ++b) {
    const Bracket bracket = hyperband_bracket(b, 1, 27, 3);
    EXPECT_EQ(bracket, expected[static_cast<std::size_t>(b)]);
    EXPECT_EQ(scratch_epochs(bracket), scratch[static_cast<std::size_t>(b)]);
    EXPECT_EQ(resumed_epochs(bracket), resumed[static_cast<std::size_t>(b)]);
  }
  EXPECT_EQ(hyperband_bracket(4, 1, 27, 3), expected[0]);  // the cycle repeats
}

TEST(HyperbandBracket, HasTheExactTableForOneTo81) {
  const std::vector<Bracket> expected = {{{81, 1}, {27, 3}, {9, 9}, {3, 27}, {1, 81}},
                                         {{27, 3}, {9, 9}, {3, 27}, {1, 81}},
                                         {{9, 9}, {3, 27}, {1, 81}},
                                         {{6, 27}, {2, 81}},
                                         {{5, 81}}};
  int scratch = 0;
  int resumed = 0;
  for (int b = 0; b < 5; ++b) {
    EXPECT_EQ(hyperband_bracket(b, 1, 81, 3), expected[static_cast<std::size_t>(b)]);
    scratch += scratch_epochs(hyperband_bracket(b, 1, 81, 3));
    resumed += resumed_epochs(hyperband_bracket(b, 1, 81, 3));
  }
  EXPECT_EQ(scratch, 1701);
  EXPECT_EQ(resumed, 1404);
}

TEST(HyperbandBracket, LevelsHangFromTheTopForThreeTo100) {
  const std::vector<Bracket> expected = {
      {{27, 3}, {9, 11}, {3, 33}, {1, 100}}, {{9, 11}, {3, 33}, {1, 100}}, {{6, 33}, {2, 100}}, {{4, 100}}};
  int scratch = 0;
  int resumed = 0;
  for (int b = 0; b < 4; ++b) {
    EXPECT_EQ(hyperband_bracket(b, 3, 100, 3), expected[static_cast<std::size_t>(b)]);
    scratch += scratch_epochs(hyperband_bracket(b, 3, 100, 3));
    resumed += resumed_epochs(hyperband_bracket(b, 3, 100, 3));
  }
  EXPECT_EQ(scratch, 1475);
  EXPECT_EQ(resumed, 1250);
}

TEST(HyperbandBracket, HasThePapersHorizons) {
  EXPECT_EQ(hyperband_bracket(0, 1, 25, 3), (Bracket{{9, 2}, {3, 8}, {1, 25}}));
  EXPECT_EQ(hyperband_bracket(0, 1, 50, 3), (Bracket{{27, 1}, {9, 5}, {3, 16}, {1, 50}}));
  EXPECT_EQ(hyperband_bracket(0, 1, 100, 3), (Bracket{{81, 1}, {27, 3}, {9, 11}, {3, 33}, {1, 100}}));
}

TEST(HyperbandBracket, KeepsTheLowestRungOfExactPowers) {
  EXPECT_EQ(hyperband_bracket(0, 1, 243, 3).size(), 6U);
  EXPECT_EQ(hyperband_bracket(0, 1, 1000, 10).size(), 4U);
}

// Trace T2: losses a_i + 1/t; rung 1 lets 4, 1, 7 go on, rung 3 lets 4 go on.
class HalvingTrace : public testing::Test {
 protected:
  static CurveTable table() {
    const std::vector<double> a = {.30, .10, .25, .40, .05, .35, .20, .15, .45};
    CurveTable t = test::table_of(
        9, 9, [&](double x, Epoch epoch) { return a[static_cast<std::size_t>(std::lround(x * 8))] + 1.0 / epoch; });
    t.metric.goal = Goal::minimize;
    return t;
  }

  static SimulationSummary run(const CurveTable& table, Cost budget) {
    const PolicySpec spec{.name = "hyperband"};
    Hyperband policy(spec);
    return simulate(table, spec, policy, {.budget = budget, .seed = 3});
  }
};

// Row -> last epoch that was reported.
std::map<std::size_t, Epoch> reached_epochs(const CurveTable& table, const SimulationSummary& summary) {
  std::map<std::size_t, Epoch> reached;
  std::map<std::int64_t, std::size_t> row_of;
  for (const StoredEvent& stored : summary.events) {
    if (const auto* start = std::get_if<TrialStarted>(&stored.event)) {
      row_of[index(start->trial)] = table.row(start->config);
    }
    if (const auto* m = std::get_if<Measured>(&stored.event)) reached[row_of[index(m->trial)]] = m->measurement.epoch;
  }
  return reached;
}

TEST_F(HalvingTrace, PromotesTheBestThirdAndPaysOnlyFurtherEpochs) {
  const CurveTable t = table();
  const SimulationSummary summary = run(t, 21.0);
  EXPECT_EQ(reached_epochs(t, summary),
            (std::map<std::size_t, Epoch>{{0, 1}, {1, 3}, {2, 1}, {3, 1}, {4, 9}, {5, 1}, {6, 1}, {7, 3}, {8, 1}}));
  EXPECT_EQ(summary.spent, 21.0);  // 9 + 6 + 6 resumed
}

TEST_F(HalvingTrace, PaysRungsFromTheStartWithoutCheckpoints) {
  const CurveTable t = table();
  const PolicySpec spec{.name = "hyperband"};
  Hyperband policy(spec);
  const SimulationSummary summary =
      simulate(t, spec, policy, {.budget = 27.0, .seed = 3, .checkpoint = Checkpoint::none});
  EXPECT_EQ(reached_epochs(t, summary)[4], 9);
  // 9 + 9, 6 for the last one, whose program has not been ended in between, and the rest for one that was left behind
  EXPECT_EQ(summary.spent, 27.0);
}

// The best row of the first rung crashes on its way to the second: the other two survivors go on without it, and the
// better one to the end. With no new row left, the other one and the next best follow as far as the budget goes.
TEST_F(HalvingTrace, ACrashAfterAPromotionStopsNobodyElse) {
  for (const char* name : {"hyperband", "bohb"}) {
    CurveTable t = table();
    t.runs[4].value[1] = std::numeric_limits<double>::quiet_NaN();
    const PolicySpec spec{.name = name};
    const SimulationSummary summary = simulate(t, spec, *make_policy(spec), {.budget = 30.0, .seed = 3});
    EXPECT_EQ(reached_epochs(t, summary),
              (std::map<std::size_t, Epoch>{{0, 1}, {1, 9}, {2, 1}, {3, 1}, {4, 1}, {5, 1}, {6, 5}, {7, 9}, {8, 1}}))
        << name;
  }
}

TEST_F(HalvingTrace, PlaceOfACrashedRunIsFilledAtTheHigherRung) {
  // Nine rows, seven of which crash: two survive the first rung, the third place of rung 1 needs a new configuration,
  // started directly at 3 epochs; the pool of 12 has three more rows.
  CurveTable t = test::table_of(12, 9, [](double x, Epoch epoch) { return x + 1.0 / epoch; });
  t.metric.goal = Goal::minimize;
  const PolicySpec spec{.name = "hyperband"};
  Hyperband probe(spec);
  const SimulationSummary dry = simulate(t, spec, probe, {.budget = 9.0, .seed = 3});
  int crashed = 0;
  for (const StoredEvent& stored : dry.events) {
    const auto* start = std::get_if<TrialStarted>(&stored.event);
    if (start && crashed < 7) {
      t.runs[t.row(start->config)].value[0] = std::numeric_limits<double>::quiet_NaN();
      ++crashed;
    }
  }
  Hyperband policy(spec);
  const SimulationSummary summary = simulate(t, spec, policy, {.budget = 30.0, .seed = 3});
  int started_high = 0;
  for (const StoredEvent& stored : summary.events) {
    const auto* start = std::get_if<TrialStarted>(&stored.event);
    if (start && start->assignment.place == BracketPlace{.bracket = 0, .rung = 1}) {
      EXPECT_EQ(start->until, 3);
      ++started_high;
    }
  }
  EXPECT_EQ(started_high, 1);
}

TEST(Hyperband, SeveralWorkersOpenTheNextBracketRatherThanWait) {
  const CurveTable table = test::small_table(60, 9);
  const PolicySpec spec{.name = "hyperband"};
  Hyperband policy(spec);
  const SimulationSummary summary = simulate(table, spec, policy, {.budget = 400.0, .seed = 1, .workers = 8});
  double idle_start = 0.0;
  for (const StoredEvent& stored : summary.events) {
    if (const auto* s = std::get_if<TrialStarted>(&stored.event); s && s->assignment.place->bracket == 1) {
      idle_start = stored.at;
      break;
    }
  }
  EXPECT_GT(idle_start, 0.0);
  EXPECT_LE(summary.spent, 400.0 * (1.0 + 1e-9));
}

}  // namespace
}  // namespace bapi
