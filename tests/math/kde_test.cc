#include "bapi/math/kde.h"

#include <gtest/gtest.h>

#include <cmath>

namespace bapi {
namespace {

Matrix column(const std::vector<double>& values) {
  return Eigen::Map<const Vector>(values.data(), static_cast<Eigen::Index>(values.size()));
}

Vector point(double x) { return Vector::Constant(1, x); }

// Four results in one dimension, best first: {.2, .4} are good, {.6, .9} bad.
DensityPair worked_example() {
  const std::optional<DensitySplit> split = density_split(4, 1);
  EXPECT_EQ(split, (DensitySplit{2, 2}));
  return DensityPair::fit(column({.2, .4, .6, .9}), {Coordinate{}}, *split);
}

TEST(DensityPair, HasTheBandwidthsOfTheWorkedExample) {
  const DensityPair pair = worked_example();
  EXPECT_NEAR(pair.good.bandwidths()[0], 0.0922784, 1e-7);
  EXPECT_NEAR(pair.bad.bandwidths()[0], 0.1384175, 1e-7);
}

TEST(DensityPair, HasTheDensitiesOfTheWorkedExample) {
  const DensityPair pair = worked_example();
  const std::vector<double> x = {.1, .3, .5};
  const std::vector<double> good = {1.212590, 2.403265, 1.212590};
  const std::vector<double> bad = {.00211484, .1377314, 1.132220};
  const std::vector<double> ratio = {.00174407, .0573101, .933720};
  for (std::size_t i = 0; i < x.size(); ++i) {
    EXPECT_NEAR(std::exp(pair.good.log_density(point(x[i]))), good[i], 1e-6);
    EXPECT_NEAR(std::exp(pair.bad.log_density(point(x[i]))), bad[i], 1e-6);
    EXPECT_NEAR(std::exp(-pair.log_ratio(point(x[i]))), ratio[i], 1e-6);
  }
}

TEST(DensityPair, ComparesAFloorWhereBothDensitiesVanish) {
  const DensityPair pair{.good = ProductDensity(column({.1, .1}), {Coordinate{}}),
                         .bad = ProductDensity(column({.2, .2}), {Coordinate{}})};
  EXPECT_EQ(pair.log_ratio(point(.9)), 0.0);
}

TEST(DensityPair, ProposesTheBestOfItsDraws) {
  const DensityPair pair = worked_example();
  Rng rng(3);
  Rng same(3);
  const Vector best = pair.propose(64, 3.0, rng);
  for (int i = 0; i < 64; ++i) EXPECT_LE(pair.log_ratio(pair.good.draw(3.0, same)), pair.log_ratio(best));
}

TEST(TruncatedToUnit, HasTheDrawsOfTheWorkedExample) {
  const double sd = 3.0 * 0.09227842;
  EXPECT_NEAR(truncated_to_unit(.2, sd, .1), .063762, 1e-6);
  EXPECT_NEAR(truncated_to_unit(.2, sd, .5), .282056, 1e-6);
  EXPECT_NEAR(truncated_to_unit(.2, sd, .9), .592290, 1e-6);
}

TEST(DensitySplit, HasTheExactTable) {
  const std::vector<int> sizes = {20, 27, 40, 54, 81, 100};
  const std::vector<std::pair<int, std::vector<DensitySplit>>> table = {
      {2, {{3, 17}, {4, 22}, {6, 34}, {8, 45}, {12, 68}, {15, 85}}},
      {3, {{4, 16}, {4, 22}, {6, 34}, {8, 45}, {12, 68}, {15, 85}}},
      {4, {{5, 15}, {5, 22}, {6, 34}, {8, 45}, {12, 68}, {15, 85}}},
      {6, {{7, 13}, {7, 20}, {7, 33}, {8, 45}, {12, 68}, {15, 85}}}};
  for (const auto& [d, splits] : table) {
    for (std::size_t i = 0; i < sizes.size(); ++i) EXPECT_EQ(density_split(sizes[i], d), splits[i]) << d << " " << i;
  }
}

TEST(DensitySplit, FirstExistsAtTwiceTheDimensionPlusTwo) {
  for (const int d : {1, 2, 3, 4, 6, 15}) {
    for (int n = 0; n < 2 * (d + 1); ++n) EXPECT_FALSE(density_split(n, d)) << n << " results in " << d;
    EXPECT_EQ(density_split(2 * (d + 1), d), (DensitySplit{d + 1, d + 1}));
  }
}

TEST(ProductDensity, OptionsShareTheirMassAmongAllDeclaredOnes) {
  const ProductDensity density(column({0, 0, 0, 2}), {Coordinate{.options = 4}});
  double sum = 0.0;
  for (int option = 0; option < 4; ++option) sum += std::exp(density.log_density(point(option)));
  EXPECT_NEAR(sum, 1.0, 1e-12);
  EXPECT_GT(density.log_density(point(0)), density.log_density(point(2)));
  EXPECT_GT(density.log_density(point(2)), density.log_density(point(1)));
  EXPECT_DOUBLE_EQ(density.log_density(point(1)), density.log_density(point(3)));
}

TEST(ProductDensity, OptionBandwidthStopsWhereTheKernelIsFlat) {
  const ProductDensity density(column({0, 9, 0, 9}), {Coordinate{.options = 10}});
  EXPECT_DOUBLE_EQ(density.bandwidths()[0], 0.9);
  EXPECT_NEAR(density.log_density(point(0)), std::log(0.1), 1e-12);
  EXPECT_NEAR(density.log_density(point(5)), std::log(0.1), 1e-12);
}

TEST(ProductDensity, ASingleOptionIsCertain) {
  const ProductDensity density(column({0, 0}), {Coordinate{.options = 1}});
  EXPECT_DOUBLE_EQ(density.log_density(point(0)), 0.0);
  Rng rng(1);
  EXPECT_EQ(density.draw(3.0, rng)[0], 0.0);
}

TEST(ProductDensity, EqualValuesKeepASmallBandwidth) {
  EXPECT_DOUBLE_EQ(ProductDensity(column({.5, .5, .5}), {Coordinate{}}).bandwidths()[0], 1e-3);
}

TEST(ProductDensity, DrawsKeepAnOptionAsOftenAsItsBandwidthSays) {
  const ProductDensity density(column({1, 1, 1, 2}), {Coordinate{.options = 3}});
  const double h = density.bandwidths()[0];
  const std::vector<double> expected = {h / 3, 0.75 * (1 - h) + h / 3, 0.25 * (1 - h) + h / 3};
  std::vector<int> count(3, 0);
  constexpr int kDraws = 30'000;
  Rng rng(8);
  for (int i = 0; i < kDraws; ++i) ++count[static_cast<std::size_t>(density.draw(3.0, rng)[0])];
  for (std::size_t k = 0; k < 3; ++k) {
    EXPECT_NEAR(count[k] / static_cast<double>(kDraws), expected[k], 4.0 * 0.5 / std::sqrt(kDraws));
  }
}

TEST(ProductDensity, DrawsOfNumbersStayInTheUnitInterval) {
  const ProductDensity density(column({0.0, 0.02, 1.0}), {Coordinate{}});
  Rng rng(5);
  for (int i = 0; i < 1000; ++i) {
    const double x = density.draw(3.0, rng)[0];
    EXPECT_GE(x, 0.0);
    EXPECT_LE(x, 1.0);
  }
}

}  // namespace
}  // namespace bapi
