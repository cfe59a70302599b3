#include <gtest/gtest.h>

#include <cstdio>

#include "tests/support/monotone_share.h"

namespace bapi {
namespace {

void report(const curves::MonotoneShare& share) {
  testing::Test::RecordProperty("monotone", share.monotone);
  testing::Test::RecordProperty("data_sets", share.data_sets);
  std::printf("monotone: %d of %d, largest fall %.2g\n", share.monotone, share.data_sets, share.largest_fall);
}

// The limits leave room below the shares seen: 98.5 % with exponential decay, all with rbf.
TEST(MonotoneMean, HardlyEverDecreasesOnAThousandFittedDataSetsWithExponentialDecay) {
  const curves::MonotoneShare share = curves::monotone_share(TimeKind::exponential_decay, 1000, 50, 11);
  report(share);
  EXPECT_GE(share.monotone, 965);
  EXPECT_LT(share.largest_fall, 0.1);
}

TEST(MonotoneMean, HardlyEverDecreasesOnAThousandFittedDataSetsWithRbf) {
  const curves::MonotoneShare share = curves::monotone_share(TimeKind::rbf, 1000, 50, 12);
  report(share);
  EXPECT_GE(share.monotone, 990);
  EXPECT_LT(share.largest_fall, 0.1);
}

}  // namespace
}  // namespace bapi
