#include "bapi/planner/early_termination.h"

#include <gtest/gtest.h>

#include "bapi/base/error.h"
#include "bapi/gp/monotone_gp.h"
#include "bapi/gp/slope_constraint.h"
#include "tests/support/curves.h"

namespace bapi {
namespace {

// The paper's test: mean at the stop not above the best, and known to within kappa of what is known now.
TEST(EarlyTermination, StopsWhatWillNotBeatTheBestAndIsKnownWellEnough) {
  EXPECT_TRUE(should_terminate(0.2, 0.19, 0.1, 0.5, 2.0));
  EXPECT_FALSE(should_terminate(0.2, 0.21, 0.1, 0.5, 2.0));
  EXPECT_FALSE(should_terminate(0.51, 0.1, 0.1, 0.5, 2.0));
  EXPECT_TRUE(should_terminate(0.5, 0.2, 0.1, 0.5, 2.0));
}

struct Setting {
  curves::Data data;
  ExactGp gp;
  SlopeConstraint slopes;
};

Setting setting() {
  Rng rng(5);
  curves::Data data = curves::simulate(10, 3, 50, rng);
  ExactGp gp = curves::fitted(data, TimeKind::exponential_decay, rng);
  SlopeConstraint slopes = slope_constraint(gp, 1);
  return {std::move(data), std::move(gp), std::move(slopes)};
}

TEST(EarlyTermination, AHopelessRunEndsAndAnUnbeatenOneGoesOn) {
  const Setting s = setting();
  const Vector x = s.data.x.row(0);
  const StopRule rule{.epsilon = 0.05, .min_epoch = 1, .max_epoch = 50};
  const auto check = [&](double best) {
    const MonotoneGp posterior(s.gp, Constraint::on_slopes(s.slopes, x, 0));
    return check_termination(posterior, {.x = x, .group = 0, .done = s.data.trained[0]}, best, rule, {.kappa = 100.0});
  };
  EXPECT_TRUE(check(1e3).terminate);
  EXPECT_FALSE(check(-1e3).terminate);
  EXPECT_GE(check(0.0).stop, std::min(50, s.data.trained[0]));
}

// The paper's loop stalls at the stop and may step back; this one does neither.
TEST(EarlyTermination, TheLoopOfBlocksEndsAtTheStop) {
  for (const Epoch stop : {1, 7, 10, 23, 50}) {
    Epoch now = 0;
    int looks = 0;
    while (now < stop) {
      const Epoch next = next_check(now, stop, 10);
      ASSERT_GT(next, now);
      ASSERT_LE(next, stop);
      now = next;
      ++looks;
    }
    EXPECT_EQ(looks, (stop + 9) / 10);
  }
  EXPECT_EQ(next_check(30, 20, 10), 30);
}

TEST(EarlyTermination, RefusesAKappaThatIsNotPositive) {
  EXPECT_THROW(TerminationOptions{.kappa = 0.0}.validate(), InvalidInput);
}

}  // namespace
}  // namespace bapi
