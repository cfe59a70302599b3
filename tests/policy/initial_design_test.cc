#include "bapi/policy/initial_design.h"

#include <gtest/gtest.h>

#include "bapi/policy/fresh.h"
#include "bapi/run/curve_table.h"
#include "tests/support/tables.h"

namespace bapi {
namespace {

class InitialDesignTest : public testing::Test {
 protected:
  InitialDesignTest() : table_(test::small_table(20, 20)), history_(study_of(table_, 100.0, {}, 1, 1)) {}

  void finish(const Start& start, Cost epoch_cost) {
    const TrialId id{std::ssize(history_.trials())};
    history_.apply(TrialStarted{.trial = id, .config = start.config, .until = start.until, .why = start.why});
    for (Epoch t = 1; t <= start.until; ++t) history_.apply(Measured{id, {t, 0.5, epoch_cost}});
    history_.apply(SegmentDone{id});
  }

  CurveTable table_;
  History history_;
};

TEST_F(InitialDesignTest, HasOneRunMoreThanParametersAndFollowsTheSharedSequence) {
  const InitialDesign design{.full_runs = 1};
  for (int run = 0; run < 2; ++run) {
    ASSERT_TRUE(design.unfinished(history_));
    const Start start = std::get<Start>(design.next(history_));
    EXPECT_EQ(start.config, fresh_config(history_));
    EXPECT_EQ(start.until, run == 0 ? 20 : 2);
    finish(start, 1.0);
  }
  EXPECT_FALSE(design.unfinished(history_));
}

TEST_F(InitialDesignTest, EndsWhereItsShareOfTheBudgetIsSpent) {
  const InitialDesign design{.runs = 10, .budget_share = 0.25};
  for (int run = 0; run < 3; ++run) {
    ASSERT_TRUE(design.unfinished(history_)) << run;
    finish(std::get<Start>(design.next(history_)), 5.0);  // 10 each
  }
  EXPECT_FALSE(design.unfinished(history_));
}

TEST_F(InitialDesignTest, TheFirstRunIsBegunWhateverItsShare) {
  EXPECT_TRUE((InitialDesign{.budget_share = 0.0}.unfinished(history_)));
}

}  // namespace
}  // namespace bapi
