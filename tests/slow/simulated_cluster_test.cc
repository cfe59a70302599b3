#include "tests/support/simulated_cluster.h"

#include <gtest/gtest.h>

namespace bapi {
namespace many_clusters_test {

// Sixty seeds do not find what ten thousand do.
class ManyClusters : public testing::TestWithParam<int> {};

TEST_P(ManyClusters, KeepTheirLawsWhateverHappens) {
  constexpr std::uint64_t kSeedsEach = 1000;
  const auto first = static_cast<std::uint64_t>(GetParam()) * kSeedsEach;
  for (std::uint64_t seed = first; seed < first + kSeedsEach; ++seed) {
    EXPECT_EQ(test::simulate_cluster(seed).violation, "") << "seed " << seed;
  }
}

INSTANTIATE_TEST_SUITE_P(Seeds, ManyClusters, testing::Range(0, 10));

}  // namespace many_clusters_test
}  // namespace bapi
