#include "bapi/tables/timed_policy.h"

#include <gtest/gtest.h>

#include "bapi/tables/curve_table.h"
#include "bapi/tables/synthetic.h"

namespace bapi {
namespace {

// Takes a known time for every decision.
class SlowPolicy : public Policy {
 public:
  explicit SlowPolicy(ManualClock& clock) : clock_(clock) {}
  std::string_view name() const override { return "slow"; }
  Decision ask(const History&, Rng&) override {
    clock_.advance(2.0);
    return Finish{.reason = "done"};
  }

 private:
  ManualClock& clock_;
};

TEST(TimedPolicy, MeasuresDecisionsAndNothingElse) {
  ManualClock clock;
  SlowPolicy slow(clock);
  TimedPolicy timed(slow, clock);
  const CurveTable table = synthetic_table({.rows = 5});
  History history(study_of(table, 10.0, {}, 0, 1));
  Rng rng(0);
  timed.ask(history, rng);
  clock.advance(100.0);
  history.apply(TrialStarted{.trial = TrialId{0}, .config = table.configs[0], .until = 1});
  timed.ask(history, rng);
  EXPECT_EQ(timed.seconds(), 4.0);

  const std::span<const TimedDecision> both = timed.take_decisions();
  ASSERT_EQ(both.size(), 2u);
  EXPECT_EQ(both[0].trials, 0);
  EXPECT_EQ(both[1].trials, 1);
  EXPECT_EQ(both[1].seconds, 2.0);
  EXPECT_TRUE(timed.take_decisions().empty());
  timed.ask(history, rng);
  EXPECT_EQ(timed.take_decisions().size(), 1u);
  EXPECT_EQ(timed.seconds(), 6.0);
}

}  // namespace
}  // namespace bapi
