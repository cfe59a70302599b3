#include "bapi/base/rng.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace bapi {
namespace {

TEST(Rng, SameSeedGivesSameStream) {
  Rng a(7);
  Rng b(7);
  for (int i = 0; i < 100; ++i) EXPECT_EQ(a.bits(), b.bits());
}

TEST(Rng, ForkDoesNotDependOnWhatTheParentHasDrawn) {
  Rng fresh(7);
  Rng used(7);
  for (int i = 0; i < 10; ++i) used.bits();
  EXPECT_EQ(fresh.fork("fit", 3).bits(), used.fork("fit", 3).bits());
}

TEST(Rng, ForksDifferByLabelIndexAndSeed) {
  const Rng parent(7);
  const std::uint64_t base = parent.fork("fit", 0).bits();
  EXPECT_NE(base, parent.fork("fit", 1).bits());
  EXPECT_NE(base, parent.fork("horizon", 0).bits());
  EXPECT_NE(base, Rng(8).fork("fit", 0).bits());
}

TEST(Rng, NormalHasTheMomentsOfAStandardNormal) {
  Rng rng(1);
  constexpr int kDraws = 200000;
  double sum = 0.0;
  double squares = 0.0;
  double fourth = 0.0;
  for (int i = 0; i < kDraws; ++i) {
    const double z = rng.normal();
    sum += z;
    squares += z * z;
    fourth += z * z * z * z;
  }
  // Five standard errors of each mean.
  EXPECT_NEAR(sum / kDraws, 0.0, 5.0 / std::sqrt(kDraws));
  EXPECT_NEAR(squares / kDraws, 1.0, 5.0 * std::sqrt(2.0 / kDraws));
  EXPECT_NEAR(fourth / kDraws, 3.0, 5.0 * std::sqrt(96.0 / kDraws));
}

TEST(Rng, BelowIsUniformOverItsRange) {
  Rng rng(3);
  std::vector<int> counts(7, 0);
  constexpr int kDraws = 70000;
  for (int i = 0; i < kDraws; ++i) ++counts.at(rng.below(7));
  for (const int count : counts) EXPECT_NEAR(count, kDraws / 7, 500);  // about five standard deviations
}

}  // namespace
}  // namespace bapi
