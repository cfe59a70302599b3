#include "bapi/policy/initial_design.h"

#include <gtest/gtest.h>

#include <cmath>

#include "bapi/policy/fresh.h"
#include "bapi/tables/curve_table.h"
#include "tests/support/tables.h"

namespace bapi {
namespace {

class InitialDesignTest : public testing::Test {
 protected:
  InitialDesignTest() : table_(test::small_table(20, 20)), history_(study_of(table_, 100.0, {}, 1, 1)) {}

  TrialId start(const Start& start) {
    const TrialId id{std::ssize(history_.trials())};
    history_.apply(
        TrialStarted{.trial = id, .config = start.config, .until = start.until, .assignment = start.assignment});
    return id;
  }

  void resume(const Resume& resume) {
    history_.apply(TrialResumed{.trial = resume.trial, .until = resume.until, .why = resume.why});
  }

  void report(TrialId id, Epoch epoch, Cost cost, double value = 0.5) {
    history_.apply(Measured{id, {epoch, value, cost}});
  }

  void finish(const Start& decided, Cost epoch_cost, double value = 0.5) {
    const TrialId id = start(decided);
    for (Epoch t = 1; t <= decided.until; ++t) report(id, t, epoch_cost, value);
    history_.apply(SegmentDone{id});
  }

  CurveTable table_;
  History history_;
};

TEST_F(InitialDesignTest, HasOneRunMoreThanParametersAndFollowsTheSharedSequence) {
  const InitialDesign design;
  for (int run = 0; run < 2; ++run) {
    ASSERT_TRUE(design.unfinished(history_));
    const Start start = std::get<Start>(design.next(history_));
    EXPECT_EQ(start.config, fresh_config(history_));
    EXPECT_EQ(start.until, 2);
    finish(start, 1.0);
  }
  EXPECT_FALSE(design.unfinished(history_));
}

TEST_F(InitialDesignTest, TheBestRunsAreTrainedOnToTheEnd) {
  const InitialDesign design{.runs = 4, .full_runs = 2};
  for (const double value : {0.3, 0.9, 0.1, 0.7}) finish(std::get<Start>(design.next(history_)), 0.1, value);
  for (const std::int64_t best : {1, 3}) {
    ASSERT_TRUE(design.unfinished(history_));
    const Resume further = std::get<Resume>(design.next(history_));
    EXPECT_EQ(further.trial, TrialId{best});
    EXPECT_EQ(further.until, 20);
    EXPECT_EQ(further.why.rule, Rule::initial_design);
    resume(further);
  }
  EXPECT_FALSE(design.unfinished(history_));
}

TEST_F(InitialDesignTest, WhichAreTheBestIsNotDecidedBeforeAllHaveHadTheirEpochs) {
  const InitialDesign design{.runs = 2, .full_runs = 1};
  finish(std::get<Start>(design.next(history_)), 0.1, 0.5);
  const TrialId late = start(std::get<Start>(design.next(history_)));
  ASSERT_TRUE(design.unfinished(history_));
  EXPECT_TRUE(std::holds_alternative<Wait>(design.next(history_)));
  for (Epoch t = 1; t <= 2; ++t) report(late, t, 0.1, 0.8);
  history_.apply(SegmentDone{late});
  EXPECT_EQ(std::get<Resume>(design.next(history_)).trial, late);
}

TEST_F(InitialDesignTest, TheNextBestTakesThePlaceOfAFailedOne) {
  const InitialDesign design{.runs = 2, .full_runs = 1};
  finish(std::get<Start>(design.next(history_)), 0.1, 0.5);
  finish(std::get<Start>(design.next(history_)), 0.1, 0.8);
  resume(std::get<Resume>(design.next(history_)));
  history_.apply(TrialFailed{.trial = TrialId{1}, .message = "crashed"});
  ASSERT_TRUE(design.unfinished(history_));
  const Resume second = std::get<Resume>(design.next(history_));
  EXPECT_EQ(second.trial, TrialId{0});
  resume(second);
  history_.apply(TrialFailed{.trial = TrialId{0}, .message = "crashed"});
  EXPECT_FALSE(design.unfinished(history_)) << "there is none left to train on";
}

TEST_F(InitialDesignTest, EndsWhereItsShareOfTheBudgetIsSpent) {
  const InitialDesign design{.runs = 10, .budget_share = 0.25};
  for (int run = 0; run < 3; ++run) {
    ASSERT_TRUE(design.unfinished(history_)) << run;
    finish(std::get<Start>(design.next(history_)), 5.0);  // 10 each
  }
  EXPECT_FALSE(design.unfinished(history_));
}

TEST_F(InitialDesignTest, WithoutABoundOnlyTheBudgetEndsIt) {
  const InitialDesign design{.runs = 10};
  for (int run = 0; run < 4; ++run) finish(std::get<Start>(design.next(history_)), 12.0);
  EXPECT_TRUE(design.unfinished(history_));  // 96 of 100, and the next would cost 24
}

TEST_F(InitialDesignTest, BeforeACostIsKnownEveryWorkerGetsOneRun) {
  history_ = History(study_of(table_, 100.0, {}, 1, 3));
  const InitialDesign design{.runs = 10, .budget_share = 0.25};
  for (int run = 0; run < 3; ++run) {
    ASSERT_TRUE(design.unfinished(history_)) << run;
    start(std::get<Start>(design.next(history_)));
  }
  EXPECT_FALSE(design.unfinished(history_));
}

TEST_F(InitialDesignTest, RunsOfOtherWorkersCountAtTheMeanCostOfTheirEpochsLeft) {
  history_ = History(study_of(table_, 100.0, {}, 1, 8));
  const InitialDesign design{.runs = 10, .epochs = 0.2, .budget_share = 0.25};  // of 4 epochs each
  for (int run = 0; run < 3; ++run) start(std::get<Start>(design.next(history_)));
  report(TrialId{0}, 1, 2.5);  // 2.5 spent; 3, 4 and 4 epochs at 2.5 to come: 27.5
  EXPECT_FALSE(design.unfinished(history_));
  report(TrialId{1}, 1, 0.5);  // 3 spent; 10 epochs at 1.5 to come: 15
  EXPECT_TRUE(design.unfinished(history_));
}

TEST_F(InitialDesignTest, TheFirstRunIsBegunWhateverItsShare) {
  EXPECT_TRUE((InitialDesign{.budget_share = 0.0}.unfinished(history_)));
}

// Nothing rises before epoch 7: three of four trials are trained on, and from then on new ones get as many epochs as it
// takes.
TEST_F(InitialDesignTest, TrialsGoOnWhileTheirValuesDoNotTellThemApart) {
  const auto value = [](std::int64_t trial, Epoch t) {
    const double noise = 0.01 * std::sin(2.4 * t + 1.7 * static_cast<double>(trial));
    return 0.1 + noise + (t >= 7 ? 0.1 * static_cast<double>(trial) : 0.0);
  };
  const auto train = [&](TrialId id, Epoch from, Epoch until) {
    for (Epoch t = from + 1; t <= until; ++t) report(id, t, 0.1, value(index(id), t));
    history_.apply(SegmentDone{id});
  };
  const InitialDesign design{.runs = 4, .epochs = 0.25, .until_told_apart = true};
  for (int run = 0; run < 4; ++run) {
    const Start begun = std::get<Start>(design.next(history_));
    EXPECT_EQ(begun.until, 5);
    train(start(begun), 0, 5);
  }
  EXPECT_FALSE((InitialDesign{.runs = 4, .epochs = 0.25}.unfinished(history_)));
  for (int further = 0; further < 3; ++further) {
    ASSERT_TRUE(design.unfinished(history_));
    const Resume decided = std::get<Resume>(design.next(history_));
    EXPECT_EQ(decided.until, 10);
    EXPECT_EQ(decided.why.rule, Rule::initial_design);
    resume(decided);
    train(decided.trial, 5, 10);
  }
  EXPECT_FALSE(design.unfinished(history_));
  EXPECT_EQ(design.first_telling(history_), 7);
  EXPECT_EQ((InitialDesign{.epochs = 0.25}.first_telling(history_)), 5);
}

TEST_F(InitialDesignTest, TrialsThatAreToldApartDoNotGoOn) {
  const InitialDesign design{.runs = 2, .epochs = 0.25, .until_told_apart = true};
  finish(std::get<Start>(design.next(history_)), 0.1, 0.5);
  finish(std::get<Start>(design.next(history_)), 0.1, 0.6);
  EXPECT_FALSE(design.unfinished(history_));
  EXPECT_EQ(design.first_telling(history_), 5);
}

}  // namespace
}  // namespace bapi
