#include "bapi/policy/configuration_model.h"

#include <gtest/gtest.h>

#include "bapi/tables/curve_table.h"
#include "tests/support/tables.h"

namespace bapi {
namespace {

class ConfigurationModelTest : public testing::Test {
 protected:
  ConfigurationModelTest() : table_(test::small_table(21, 3)), history_(study_of(table_, 1e6, {}, 1, 1)) {}

  TrialId begin(std::size_t row) {
    const TrialId id{std::ssize(history_.trials())};
    history_.apply(TrialStarted{.trial = id, .config = table_.configs[row], .until = 3});
    return id;
  }

  void finish(std::size_t row) {
    const TrialId id = begin(row);
    for (Epoch t = 1; t <= 3; ++t) {
      history_.apply(Measured{id, {t, table_.runs[row].value[static_cast<std::size_t>(t) - 1], 1.0}});
    }
    history_.apply(SegmentDone{id});
  }

  ConfigurationModel fitted() {
    Rng rng(4);
    return fit_configurations(history_, rng);
  }

  double forecast(const ConfigurationModel& model, std::size_t row) {
    const Rows at = Rows::at_configurations(history_.spec().space.encode(table_.configs[row]).transpose());
    return model.scale.undo(model.gp.predict(at).mean[0]);
  }

  CurveTable table_;
  History history_;
};

TEST_F(ConfigurationModelTest, InterpolatesWhatFullRunsReached) {
  EXPECT_FALSE(has_finished_trial(history_));
  for (const std::size_t row : {0U, 4U, 8U, 12U, 16U, 20U}) finish(row);
  ASSERT_TRUE(has_finished_trial(history_));
  const ConfigurationModel model = fitted();
  EXPECT_EQ(model.gp.size(), 6);
  for (const std::size_t row : {8U, 10U, 14U}) EXPECT_NEAR(forecast(model, row), table_.runs[row].value[2], 0.02);
}

TEST_F(ConfigurationModelTest, AFailedRunCountsAsTheWorstOfTheOthers) {
  for (const std::size_t row : {0U, 10U, 14U}) finish(row);
  history_.apply(TrialFailed{.trial = begin(18), .message = "diverged"});
  const ConfigurationModel model = fitted();
  ASSERT_EQ(model.gp.size(), 4);
  EXPECT_DOUBLE_EQ(model.gp.y()[3], model.gp.y().minCoeff());
  EXPECT_DOUBLE_EQ(model.gp.y()[3], model.gp.y()[0]);
}

TEST_F(ConfigurationModelTest, ARunningTrialLowersTheVarianceAndLeavesTheMean) {
  for (const std::size_t row : {0U, 10U, 20U}) finish(row);
  const ConfigurationModel before = fitted();
  begin(5);
  const ConfigurationModel after = fitted();
  EXPECT_EQ(after.gp.size(), before.gp.size() + 1);
  const Rows at = Rows::at_configurations(history_.spec().space.encode(table_.configs[5]).transpose());
  EXPECT_NEAR(after.gp.predict(at).mean[0], before.gp.predict(at).mean[0], 1e-8);
  EXPECT_LT(after.gp.predict(at).variance[0], 0.5 * before.gp.predict(at).variance[0]);
}

}  // namespace
}  // namespace bapi
