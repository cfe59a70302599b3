#include "bapi/planner/early_termination.h"

#include <gtest/gtest.h>

#include "bapi/base/error.h"
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
    return check_termination(s.gp, s.slopes, x, 0, s.data.trained[0], best, rule, {.kappa = 100.0});
  };
  EXPECT_TRUE(check(1e3).terminate);
  EXPECT_FALSE(check(-1e3).terminate);
  EXPECT_GE(check(0.0).stop, std::min(50, s.data.trained[0]));
}

TEST(EarlyTermination, NoiseOnBothSidesMakesTheRatioSmaller) {
  const Setting s = setting();
  const Vector x = s.data.x.row(1);
  const StopRule rule{.epsilon = 0.05, .min_epoch = 1, .max_epoch = 50};
  const auto with = check_termination(s.gp, s.slopes, x, 1, s.data.trained[1], 0.0, rule);
  const auto latent =
      check_termination(s.gp, s.slopes, x, 1, s.data.trained[1], 0.0, rule, {.spread = TerminationSpread::latent});
  EXPECT_GT(with.sd_now, latent.sd_now);
  EXPECT_LE(with.sd_at_stop / with.sd_now, latent.sd_at_stop / latent.sd_now + 1e-12);
  EXPECT_EQ(with.stop, latent.stop);
}

// The paper's loop stalls at the stop and may step back; this one does neither.
TEST(EarlyTermination, TheLoopOfBlocksEndsAtTheStop) {
  for (const Epoch stop : {1, 7, 10, 23, 50}) {
    Epoch now = 0;
    int looks = 0;
    while (now < stop) {
      const Epoch next = next_check(now, stop, default_block(50));
      ASSERT_GT(next, now);
      ASSERT_LE(next, stop);
      now = next;
      ++looks;
    }
    EXPECT_EQ(looks, (stop + 9) / 10);
  }
  EXPECT_EQ(next_check(30, 20, 10), 30);
  EXPECT_EQ(default_block(3), 1);
}

TEST(EarlyTermination, RefusesAKappaThatIsNotPositive) {
  EXPECT_THROW(TerminationOptions{.kappa = 0.0}.validate(), InvalidInput);
}

}  // namespace
}  // namespace bapi
