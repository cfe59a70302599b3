#include "bapi/run/timed_policy.h"

#include <gtest/gtest.h>

#include "bapi/run/curve_table.h"
#include "bapi/run/synthetic.h"

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

TEST(TimedPolicy, SumsTheTimeOfDecisionsAndNothingElse) {
  ManualClock clock;
  SlowPolicy slow(clock);
  TimedPolicy timed(slow, clock);
  const History history(study_of(synthetic_table({.rows = 5}), 10.0, {}, 0, 1));
  Rng rng(0);
  timed.ask(history, rng);
  clock.advance(100.0);
  timed.ask(history, rng);
  EXPECT_EQ(timed.seconds(), 4.0);
  EXPECT_EQ(timed.take_seconds(), 4.0);
  EXPECT_EQ(timed.take_seconds(), 0.0);
  timed.ask(history, rng);
  EXPECT_EQ(timed.take_seconds(), 2.0);
  EXPECT_EQ(timed.seconds(), 6.0);
}

}  // namespace
}  // namespace bapi
