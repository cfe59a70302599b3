#include "bapi/policy/evidence.h"

#include <gtest/gtest.h>

#include "bapi/policy/rivals/full_runs.h"
#include "bapi/tables/curve_table.h"
#include "tests/support/tables.h"

namespace bapi {
namespace {

class EvidenceTest : public testing::Test {
 protected:
  EvidenceTest() : table_(test::small_table(21, 3)), history_(study_of(table_, 1e6, {}, 1, 1)) {}

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
    return fit_configurations(Evidence(history_), rng);
  }

  double forecast(const ConfigurationModel& model, std::size_t row) {
    const Rows at = Rows::at_configurations(history_.spec().space.encode(table_.configs[row]).transpose());
    return model.scale.undo(model.gp.predict(at).mean[0]);
  }

  CurveTable table_;
  History history_;
};

TEST_F(EvidenceTest, InterpolatesWhatFullRunsReached) {
  EXPECT_FALSE(has_finished_trial(history_));
  for (const std::size_t row : {0U, 4U, 8U, 12U, 16U, 20U}) finish(row);
  ASSERT_TRUE(has_finished_trial(history_));
  const ConfigurationModel model = fitted();
  EXPECT_EQ(model.gp.size(), 6);
  for (const std::size_t row : {8U, 10U, 14U}) EXPECT_NEAR(forecast(model, row), table_.runs[row].value[2], 0.02);
}

TEST_F(EvidenceTest, AFailedRunIsNoValueButAFailure) {
  for (const std::size_t row : {0U, 10U, 14U}) finish(row);
  EXPECT_FALSE(Evidence(history_).failures().any());
  history_.apply(TrialFailed{.trial = begin(18), .message = "diverged"});
  EXPECT_EQ(fitted().gp.size(), 3);
  const Evidence evidence(history_);
  ASSERT_TRUE(evidence.failures().any());
  EXPECT_LT(evidence.failures().log_factors(evidence.x()[3])[0], -0.1);
  EXPECT_GT(evidence.failures().log_factors(evidence.x()[0])[0], -0.1);
}

TEST_F(EvidenceTest, ARunningTrialLowersTheVarianceAndLeavesTheMean) {
  for (const std::size_t row : {0U, 10U, 20U}) finish(row);
  const ConfigurationModel before = fitted();
  begin(5);
  const ConfigurationModel after = fitted();
  EXPECT_EQ(after.gp.size(), before.gp.size() + 1);
  const Rows at = Rows::at_configurations(history_.spec().space.encode(table_.configs[5]).transpose());
  EXPECT_NEAR(after.gp.predict(at).mean[0], before.gp.predict(at).mean[0], 1e-8);
  EXPECT_LT(after.gp.predict(at).variance[0], 0.5 * before.gp.predict(at).variance[0]);
}

TEST_F(EvidenceTest, HoldsEveryConfigurationEncodedAndWhatBecameOfItsCurve) {
  finish(4);
  const TrialId running = begin(7);
  history_.apply(Measured{running, {1, 0.25, 2.0}});
  history_.apply(TrialFailed{.trial = begin(9), .message = "diverged"});
  begin(11);
  const Evidence evidence(history_);
  ASSERT_EQ(evidence.x().size(), 4U);
  for (std::size_t i = 0; i < 4; ++i) {
    EXPECT_EQ(evidence.x()[i], history_.spec().space.encode(history_.trials()[i].config));
  }
  ASSERT_EQ(evidence.curves().size(), 2U) << "the others have reported nothing";
  EXPECT_EQ(evidence.curves()[0].fate, CurveFate::ended);
  EXPECT_EQ(evidence.curves()[1].fate, CurveFate::running);
  EXPECT_EQ(evidence.curves()[1].values, std::vector<double>{0.25});
  EXPECT_EQ(evidence.curves()[1].cost, 2.0);
  EXPECT_TRUE(evidence.failures().any());
  ASSERT_EQ(evidence.running().size(), 2U);
  EXPECT_EQ(evidence.running()[0].at.group, curve_of(running));
  EXPECT_EQ(evidence.running()[0].at.done, 1);
  EXPECT_EQ(evidence.running()[0].until, 3);
}

}  // namespace
}  // namespace bapi
