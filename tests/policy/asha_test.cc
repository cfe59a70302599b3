#include "bapi/policy/rivals/asha.h"

#include <gtest/gtest.h>

#include "bapi/tables/simulate.h"
#include "tests/support/tables.h"

namespace bapi {
namespace {

// A study of 9 epochs in which the test says what every run shows.
class AshaTest : public testing::Test {
 protected:
  AshaTest() : table_(test::small_table(40, 9)), history_(study_of(table_, 1e6, {.name = "asha"}, 1, 1)) {}

  Decision ask() {
    Rng rng(0);
    return Asha({.name = "asha"}).ask(history_, rng);
  }

  TrialId begin(const Start& start) {
    const TrialId id{std::ssize(history_.trials())};
    history_.apply(TrialStarted{.trial = id, .config = start.config, .until = start.until});
    return id;
  }

  void show(TrialId id, double value) {
    const Trial& trial = history_.trial(id);
    for (Epoch t = trial.curve.last_epoch() + 1; t <= trial.segment->until; ++t)
      history_.apply(Measured{id, {t, value, 1.0}});
    history_.apply(SegmentDone{id});
  }

  TrialId new_run(double value) {
    const Decision decision = ask();
    EXPECT_TRUE(std::holds_alternative<Start>(decision));
    const TrialId id = begin(std::get<Start>(decision));
    show(id, value);
    return id;
  }

  void expect_promotion(TrialId trial, Epoch until) {
    const Decision decision = ask();
    ASSERT_TRUE(std::holds_alternative<Resume>(decision));
    const Resume& resume = std::get<Resume>(decision);
    EXPECT_EQ(resume.trial, trial);
    EXPECT_EQ(resume.until, until);
    history_.apply(TrialResumed{.trial = resume.trial, .until = resume.until, .why = resume.why});
  }

  CurveTable table_;
  History history_;
};

TEST_F(AshaTest, PromotesTheBestOfThreeAtOnce) {
  new_run(0.1);
  new_run(0.5);
  new_run(0.3);
  expect_promotion(TrialId{1}, 3);
}

TEST_F(AshaTest, ARankThatIsNotBelowAThirdWaits) {
  for (const double value : {0.5, 0.4, 0.3}) new_run(value);
  expect_promotion(TrialId{0}, 3);
  show(TrialId{0}, 0.5);
  new_run(0.2);  // four and five on the rung: one place, taken
  new_run(0.1);
  new_run(0.0);  // the sixth makes a second place
  expect_promotion(TrialId{1}, 3);
}

TEST_F(AshaTest, HigherRungsComeFirst) {
  for (std::int64_t third = 0; third < 3; ++third) {  // every run is worse than those before it
    for (int k = 0; k < 3; ++k) new_run(-static_cast<double>(std::ssize(history_.trials())));
    expect_promotion(TrialId{third}, 3);
    if (third < 2) show(TrialId{third}, 0.0);
  }
  for (int k = 0; k < 3; ++k) new_run(-100.0);  // twelve: a fourth place on the lowest rung
  show(TrialId{2}, 1.0);                        // three: a first place on the second rung
  expect_promotion(TrialId{2}, 9);
  expect_promotion(TrialId{3}, 3);
}

TEST_F(AshaTest, ComparesValuesAtTheRungNotTheBestSoFar) {
  for (const double value : {0.5, 0.4, 0.3}) new_run(value);
  expect_promotion(TrialId{0}, 3);
  show(TrialId{0}, 0.99);  // its later value says nothing about the first rung
  new_run(0.6);            // best of four: the one place on the rung is its
  expect_promotion(TrialId{3}, 3);
}

TEST_F(AshaTest, AFailedRunIsNotPromotedAndARunningOneNotTwice) {
  for (const double value : {0.5, 0.4, 0.3}) new_run(value);
  expect_promotion(TrialId{0}, 3);
  EXPECT_TRUE(std::holds_alternative<Start>(ask()));  // trial 0 is on its way
  history_.apply(TrialFailed{.trial = TrialId{0}, .message = "diverged"});
  EXPECT_TRUE(std::holds_alternative<Start>(ask()));
}

TEST(Asha, ManyWorkersNeverWaitWhileConfigurationsAreLeft) {
  const CurveTable table = test::table_of(500, 9, [](double x, Epoch t) { return x - 1.0 / t; });
  const PolicySpec spec{.name = "asha"};
  const SimulationSummary summary =
      simulate(table, spec, *make_policy(spec), {.budget = 400.0, .seed = 1, .workers = 8});
  EXPECT_GT(summary.spent, 400.0 - 8.0 * 9.0);
  // Eight workers that never idle are done in an eighth of the time, up to the last runs.
  EXPECT_LT(summary.events.back().at - summary.events.front().at, 400.0 / 8.0 + 9.0);
}

TEST(Asha, TrainsEverythingToTheEndWhenThePoolIsExhausted) {
  const CurveTable table = test::small_table(10, 9);
  const PolicySpec spec{.name = "asha"};
  const SimulationSummary summary = simulate(table, spec, *make_policy(spec), {.budget = 1e5, .seed = 1});
  EXPECT_NEAR(summary.spent, 10.0 * table.mean_full_cost(), 1e-9);
}

}  // namespace
}  // namespace bapi
