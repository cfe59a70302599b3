#include "bapi/control/rights.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "bapi/base/rng.h"

namespace bapi {
namespace rights_test {

// What all rights come to if they are extended to `stop`.
double cost_until(const std::vector<Stake>& stakes, double stop) {
  double seconds = 0.0;
  for (const Stake& stake : stakes) {
    seconds += std::max({stop, stake.granted_until, stake.charged_until}) - stake.charged_until;
  }
  return seconds;
}

TEST(Rights, WithoutProcessesThereIsNoLimit) { EXPECT_EQ(latest_stop({}, 5.0), HUGE_VAL); }

TEST(Rights, AreDividedEquallyAmongThoseWhoHaveNone) {
  const std::vector<Stake> stakes{{.charged_until = 100.0}, {.charged_until = 100.0}};
  EXPECT_EQ(latest_stop(stakes, 30.0), 115.0);
}

TEST(Rights, ThatWereGrantedBeyondTheStopCountInFull) {
  const std::vector<Stake> stakes{{.charged_until = 100.0, .granted_until = 120.0}, {.charged_until = 100.0}};
  EXPECT_EQ(staked(stakes), 20.0);
  EXPECT_EQ(latest_stop(stakes, 30.0), 110.0);  // not 115: the first has 20 s already
  EXPECT_EQ(latest_stop(stakes, 50.0), 125.0);
}

TEST(Rights, ThatDoNotFitAllowNothing) {
  const std::vector<Stake> stakes{{.charged_until = 100.0, .granted_until = 120.0}};
  EXPECT_EQ(latest_stop(stakes, 19.0), -HUGE_VAL);
  EXPECT_EQ(latest_stop(stakes, 20.0), 120.0);
}

TEST(Rights, ComeToWhatIsLeftAndNoMore) {
  Rng rng(5);
  for (int round = 0; round < 1000; ++round) {
    std::vector<Stake> stakes;
    for (int i = 1 + rng.below(8); i > 0; --i) {
      const double charged = 100.0 + 20.0 * rng.uniform();
      stakes.push_back({.charged_until = charged, .granted_until = charged + 30.0 * (rng.uniform() - 0.3)});
    }
    const double left = staked(stakes) + 50.0 * rng.uniform();
    const double stop = latest_stop(stakes, left);
    EXPECT_NEAR(cost_until(stakes, stop), left, 1e-9);
  }
}

TEST(Rights, ALeaseGetsShorterTowardsTheEndOfTheBudget) {
  EXPECT_EQ(lease_for(60.0, 1e6, 0.0, 10), 60.0);
  EXPECT_EQ(lease_for(60.0, 330.0, 0.0, 10), 15.0);
  EXPECT_EQ(lease_for(60.0, 10.0, 5.0, 10), kShortestLease);
  EXPECT_EQ(lease_for(5.0, 1e6, 0.0, 1), 5.0);
}

}  // namespace rights_test
}  // namespace bapi
