#include "bapi/policy/rivals/bms_ei.h"

#include <gtest/gtest.h>

#include "bapi/tables/simulate.h"
#include "tests/support/finished_runs.h"
#include "tests/support/tables.h"

namespace bapi {
namespace bms_ei_test {

PolicySpec spec(std::map<std::string, Value> options = {}) { return {.name = "bms-ei", .options = std::move(options)}; }

TEST(BudgetSchedule, IsSpentDownUntilLessThanOneStepIsLeft) {
  std::optional<BudgetSchedule> schedule = BudgetSchedule{.planned = 12.0, .smallest = 2.5};
  for (const auto& [paid, left] : std::vector<std::pair<Cost, Cost>>{{3.0, 9.0}, {2.0, 7.0}, {4.0, 3.0}}) {
    schedule = after(*schedule, paid);
    ASSERT_TRUE(schedule);
    EXPECT_EQ(schedule->planned, left);
    EXPECT_EQ(schedule->smallest, 2.5);
  }
  EXPECT_FALSE(after(*schedule, 1.0));
}

class BudgetedMultiStepTest : public testing::Test {
 protected:
  BudgetedMultiStepTest()
      : table_(test::small_table(40, 9)), history_(test::finished_runs(table_, spec(), {3, 12, 20, 33})) {
    Rng rng(2);
    model_ = fit_configurations(Evidence(history_), rng);
    cost_ = fit_full_run_cost(Evidence(history_), rng);
  }

  Start answer(const PolicySpec& policy) {
    Rng rng(6);
    return std::get<Start>(make_policy(policy)->ask(history_, rng));
  }

  // Trains what was decided to the end.
  void train(const Start& start) {
    const TrialId id{std::ssize(history_.trials())};
    history_.apply(TrialStarted{.trial = id, .config = start.config, .until = 9, .assignment = start.assignment});
    const double x = std::get<double>(start.config.values[0]);
    for (Epoch t = 1; t <= 9; ++t) history_.apply(Measured{id, {t, 0.5 + 0.01 * t, 1.0 + 2.0 * x}});
    history_.apply(SegmentDone{id});
  }

  CurveTable table_;
  History history_;
  std::optional<ConfigurationModel> model_;
  std::optional<FullRunCost> cost_;
};

TEST_F(BudgetedMultiStepTest, PredictsWhatFullRunsCost) {
  // 9 epochs of 1 + 2 x each.
  EXPECT_NEAR(cost_->median(Vector::Constant(1, 0.5)), 18.0, 0.5);
  EXPECT_NEAR(cost_->median(Vector::Constant(1, 0.2)), 12.6, 0.5);
}

TEST_F(BudgetedMultiStepTest, SizesItsScheduleByTheCostOfAFewRuns) {
  Rng rng(3);
  const BudgetSchedule schedule = new_schedule(*model_, *cost_, {.steps = 4, .total = 1e6, .left = 1e6}, rng);
  EXPECT_GT(schedule.planned, 4.0 * 9.0);
  EXPECT_LT(schedule.planned, 4.0 * 27.0);
  EXPECT_LE(4.0 * schedule.smallest, schedule.planned);
  EXPECT_EQ(new_schedule(*model_, *cost_, {.steps = 4, .total = 1e6, .left = 5.0}, rng).planned, 5.0);
}

TEST_F(BudgetedMultiStepTest, GoesOnWithTheScheduleOfTheLastRun) {
  EXPECT_FALSE(continued_schedule(Evidence(history_), *cost_));
  const Start first = answer(spec());
  const BudgetSchedule made = *first.assignment.schedule;
  train(first);
  const Cost paid = history_.trials().back().spent();
  const std::optional<BudgetSchedule> next = continued_schedule(Evidence(history_), *cost_);
  ASSERT_EQ(next.has_value(), made.planned - paid > made.smallest);
  ASSERT_TRUE(next);
  EXPECT_DOUBLE_EQ(next->planned, made.planned - paid);
  EXPECT_EQ(answer(spec()).assignment.schedule, next);
}

TEST_F(BudgetedMultiStepTest, ARunningTrialIsTakenOffAtItsExpectedCost) {
  history_.apply(TrialStarted{.trial = TrialId{4},
                              .config = table_.configs[30],
                              .until = 9,
                              .assignment = {.schedule = BudgetSchedule{.planned = 60.0, .smallest = 10.0}}});
  const Cost expected = cost_->median(history_.spec().space.encode(table_.configs[30]));
  EXPECT_DOUBLE_EQ(continued_schedule(Evidence(history_), *cost_)->planned, 60.0 - expected);
  EXPECT_NEAR(left_after_running(Evidence(history_), *cost_), history_.budget().remaining() - expected, 1e-9);
}

TEST_F(BudgetedMultiStepTest, TakesARunThatFitsWhenLittleIsLeft) {
  // Two peaks, the higher one dear: with budget for cheap runs only it is left alone.
  const CurveTable table = test::table_of(
      50,
      3,
      [](double x, Epoch) {
        return x < 0.6 ? 1.0 - 4.0 * (x - 0.25) * (x - 0.25) : 1.3 - 8.0 * (x - 0.85) * (x - 0.85);
      },
      [](double x) { return x > 0.6 ? 100.0 : 1.0 + x; });
  const History rich = test::finished_runs(table, spec(), {0, 5, 18, 28, 32, 37, 47, 49});
  StudySpec poor = rich.spec();
  poor.budget.limit = rich.budget().spent() + 8.0;
  History history(poor);
  for (const Trial& trial : rich.trials()) {
    history.apply(TrialStarted{.trial = trial.id, .config = trial.config, .until = 3});
    for (const Measurement& m : trial.curve.points()) history.apply(Measured{trial.id, m});
    history.apply(SegmentDone{trial.id});
  }
  Rng a(1);
  Rng b(1);
  EXPECT_LT(std::get<double>(std::get<Start>(make_policy(spec())->ask(history, a)).config.values[0]), 0.65);
  EXPECT_GT(std::get<double>(std::get<Start>(make_policy({.name = "ms-ei-2"})->ask(history, b)).config.values[0]),
            0.65);
}

TEST_F(BudgetedMultiStepTest, LooksAlongAPathOrATree) {
  const Start tree = answer(spec({{"fantasies", std::string("tree")}, {"starts", std::int64_t{2}}}));
  EXPECT_EQ(tree.why.rule, Rule::budgeted_improvement);
  EXPECT_EQ(tree.until, 9);
}

}  // namespace bms_ei_test
}  // namespace bapi
