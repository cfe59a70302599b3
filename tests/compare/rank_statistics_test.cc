#include "bapi/compare/rank_statistics.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "bapi/base/rng.h"

namespace bapi {
namespace {

// Average ranks of eight methods over 13 experiments, as published: BAPI, MS-EI, BOHB, BMS-EI, BINOC, EI, HB, BOIL.
const std::vector<double> kPublished = {2.9, 3.4, 3.6, 4.2, 4.3, 4.9, 6.1, 6.3};

TEST(MeanRanks, EqualValuesShareTheMeanOfTheirRanks) {
  EXPECT_EQ(mean_ranks(std::vector{0.3, 0.1, 0.3, 0.2}), (std::vector{3.5, 1.0, 3.5, 2.0}));
  EXPECT_EQ(mean_ranks(std::vector{7.0, 7.0, 7.0}), (std::vector{2.0, 2.0, 2.0}));
}

TEST(MeanRanks, OfKValuesSumToTheSameWhateverTheTies) {
  Rng rng(3);
  for (int round = 0; round < 100; ++round) {
    const int k = 1 + rng.below(12);
    std::vector<double> values;
    for (int i = 0; i < k; ++i) values.push_back(rng.below(4));
    const std::vector<double> ranks = mean_ranks(values);
    EXPECT_DOUBLE_EQ(std::accumulate(ranks.begin(), ranks.end(), 0.0), 0.5 * k * (k + 1));
  }
}

TEST(MeanAndError, ErrorIsSampleDeviationOverRootN) {
  // 1, 2, 3, 4: mean 2.5, variance 5/3.
  const MeanAndError four = mean_and_error(std::vector{4.0, 1.0, 3.0, 2.0});
  EXPECT_DOUBLE_EQ(four.mean, 2.5);
  EXPECT_DOUBLE_EQ(four.error, std::sqrt(5.0 / 3.0 / 4.0));
  EXPECT_TRUE(std::isnan(mean_and_error(std::vector{4.0}).error));
}

TEST(MeanAndError, OrderDoesNotMatterToTheLastBit) {
  std::vector<double> values = {0.1, 1e8, 0.3, -1e8, 0.7};
  const double mean = mean_and_error(values).mean;
  while (std::next_permutation(values.begin(), values.end())) EXPECT_EQ(mean_and_error(values).mean, mean);
}

TEST(FriedmanTest, OfThePublishedRanksTellsTheMethodsApart) {
  const FriedmanTest test = friedman_test(kPublished, 13);
  EXPECT_NEAR(test.chi_squared, 17.3, 0.05);
  EXPECT_EQ(test.degrees, 7.0);
  EXPECT_NEAR(test.f, 2.81, 0.01);
  EXPECT_EQ(test.f_degrees, 84.0);
  EXPECT_LT(test.p, 0.05);
  EXPECT_LT(test.f_p, 0.05);
}

TEST(FriedmanTest, MatchesAHandComputedCaseWithoutTies) {
  // Rank sums 4, 9, 11 of three methods in four blocks: 12 / (4 * 3 * 4) * (16 + 81 + 121) - 3 * 4 * 4 = 6.5.
  const std::vector<std::vector<double>> ranks = {{1, 2, 3}, {1, 3, 2}, {1, 2, 3}, {1, 2, 3}};
  const FriedmanTest test = friedman_test(ranks);
  EXPECT_NEAR(test.chi_squared, 6.5, 1e-12);
  EXPECT_NEAR(test.p, std::exp(-3.25), 1e-12);  // two degrees: exp(-x / 2)
  EXPECT_NEAR(test.f, 3.0 * 6.5 / (4.0 * 2.0 - 6.5), 1e-12);
}

TEST(FriedmanTest, IsCorrectedForTies) {
  const std::vector<std::vector<double>> ranks = {{1.5, 1.5, 3}, {1, 2.5, 2.5}, {1.5, 1.5, 3}};
  // Rank sums 4, 5.5, 8.5. One pair is tied in each of the three blocks: 3 (2^3 - 2) = 18 of 3 * 3 * (3^2 - 1).
  const double uncorrected = 12.0 / 36.0 * (16.0 + 30.25 + 72.25) - 36.0;
  EXPECT_NEAR(friedman_test(ranks).chi_squared, uncorrected / (1.0 - 18.0 / 72.0), 1e-12);
}

TEST(FriedmanTest, FindsNothingWhereAllAreEqualAndEverythingWhereAllBlocksAgree) {
  const FriedmanTest equal = friedman_test({{2, 2, 2}, {2, 2, 2}});
  EXPECT_EQ(equal.chi_squared, 0.0);
  EXPECT_EQ(equal.f_p, 1.0);
  const FriedmanTest agreed = friedman_test({{1, 2, 3}, {1, 2, 3}, {1, 2, 3}});
  EXPECT_NEAR(agreed.chi_squared, 6.0, 1e-12);
  EXPECT_EQ(agreed.f_p, 0.0);
}

TEST(NemenyiDifference, MatchesTheTablesOfTheStudentizedRange) {
  // q(.05, k) / sqrt 2 for infinite degrees of freedom, from tables with two decimals of q.
  const std::vector<std::pair<int, double>> table = {{2, 1.960},
                                                     {3, 2.344},
                                                     {4, 2.569},
                                                     {5, 2.728},
                                                     {6, 2.850},
                                                     {7, 2.949},
                                                     {8, 3.031},
                                                     {9, 3.102},
                                                     {10, 3.164},
                                                     {11, 3.219},
                                                     {12, 3.268},
                                                     {13, 3.313},
                                                     {14, 3.354},
                                                     {15, 3.391}};
  for (const auto& [k, q] : table) {
    EXPECT_NEAR(nemenyi_difference(k, 1) / std::sqrt(k * (k + 1.0) / 6.0), q, 1e-3) << k;
  }
}

TEST(NemenyiDifference, OfThePublishedTableSeparatesOnlyTheTwoLast) {
  const double difference = nemenyi_difference(8, 13);
  EXPECT_NEAR(difference, 2.91, 0.005);
  int separated = 0;
  for (const double rank : kPublished) separated += rank - kPublished.front() > difference ? 1 : 0;
  EXPECT_EQ(separated, 2);
}

TEST(SignedRankTest, SmallestAttainablePIsTwoOverTwoToTheN) {
  std::vector<double> all_better;
  for (const int n : {1, 6, 13, 48}) {
    all_better.resize(static_cast<std::size_t>(n));
    std::iota(all_better.begin(), all_better.end(), 1.0);
    EXPECT_NEAR(signed_rank_test(all_better).p, std::pow(2.0, 1 - n), 1e-20) << n;
  }
}

TEST(SignedRankTest, MatchesAHandComputedCase) {
  // |d| = 1 .. 5, the 1 and the 2 negative: W- = 3. Subsets of {1..5} with sum <= 3: {}, 1, 2, 3, 12: 5 of 32.
  const SignedRankTest test = signed_rank_test(std::vector{-0.1, -0.2, 0.3, 0.4, 0.5});
  EXPECT_EQ(test.minus, 3.0);
  EXPECT_EQ(test.plus, 12.0);
  EXPECT_NEAR(test.p, 2.0 * 5.0 / 32.0, 1e-15);
}

TEST(SignedRankTest, IsExactWithTiesAndLeavesEqualPairsOut) {
  // Ranks 1.5, 1.5, 3; the 3 negative. Sums <= 3 of {1.5, 1.5, 3}: 0, 1.5, 1.5, 3, 3: five of eight, so p = 1.
  const SignedRankTest test = signed_rank_test(std::vector{0.0, 1.0, 1.0, -2.0, 0.0});
  EXPECT_EQ(test.pairs, 3);
  EXPECT_EQ(test.plus, 3.0);
  EXPECT_EQ(test.p, 1.0);
  EXPECT_EQ(signed_rank_test(std::vector{0.0, 0.0}).p, 1.0);
}

TEST(SignedRankTest, NormalApproximationContinuesTheExactOne) {
  const auto p_of = [](int n) {
    std::vector<double> d;
    for (int i = 1; i <= n; ++i) d.push_back(i % 5 <= 1 ? -i : i);
    return signed_rank_test(d).p;
  };
  // 100 pairs are exact, 105 are not; the pattern is the same, so p falls smoothly.
  EXPECT_NEAR(std::log(p_of(105) / p_of(100)), std::log(p_of(100) / p_of(95)), 0.02);
}

TEST(SignedRankTest, SwappingTheSidesDoesNotChangeP) {
  Rng rng(1);
  std::vector<double> d;
  std::vector<double> swapped;
  for (int i = 0; i < 20; ++i) {
    d.push_back(rng.normal() + 0.3);
    swapped.push_back(-d.back());
  }
  EXPECT_EQ(signed_rank_test(d).p, signed_rank_test(swapped).p);
}

TEST(HolmAdjusted, MultipliesBySmallerAndSmallerNumbersAndNeverFalls) {
  // Sorted .01 .02 .03 .04: 4 * .01, 3 * .02, max(.06, 2 * .03), max(.06, 1 * .04).
  const std::vector<double> adjusted = holm_adjusted(std::vector{0.04, 0.01, 0.03, 0.02});
  EXPECT_NEAR(adjusted[1], 0.04, 1e-15);
  EXPECT_NEAR(adjusted[3], 0.06, 1e-15);
  EXPECT_NEAR(adjusted[2], 0.06, 1e-15);
  EXPECT_NEAR(adjusted[0], 0.06, 1e-15);
  EXPECT_EQ(holm_adjusted(std::vector{0.9, 0.8}), (std::vector{1.0, 1.0}));
}

TEST(HolmAdjusted, CannotSurviveEightRivalsOnSixTables) {
  std::vector<double> smallest(8, 2.0 / 64.0);
  EXPECT_GT(holm_adjusted(smallest).front(), 0.05);
}

TEST(IndistinguishableRuns, JoinsLargestRunsOnly) {
  const std::vector<double> rank = {1.0, 1.8, 2.5, 4.0};
  const std::vector<std::size_t> order = {0, 1, 2, 3};
  const auto different = [&](std::size_t a, std::size_t b) { return std::abs(rank[a] - rank[b]) > 1.55; };
  using Runs = std::vector<std::pair<std::size_t, std::size_t>>;
  EXPECT_EQ(indistinguishable_runs(std::span(order), different), (Runs{{0, 2}, {2, 3}}));
}

TEST(Tails, MatchTabulatedCriticalValues) {
  EXPECT_NEAR(chi_squared_tail(14.067, 7), 0.05, 1e-5);
  EXPECT_NEAR(chi_squared_tail(3.841459, 1), 0.05, 1e-7);
  EXPECT_NEAR(f_tail(2.1209, 7, 84), 0.05, 1e-4);
  EXPECT_NEAR(f_tail(4.9646, 1, 10), 0.05, 1e-5);
  EXPECT_NEAR(f_tail(1.0, 5, 5), 0.5, 1e-12);
}

}  // namespace
}  // namespace bapi
