#include "bapi/model/curve_compression.h"

#include <gtest/gtest.h>

#include <vector>

namespace bapi {
namespace {

const std::vector<double> kCurve = {0.2, 0.4, 0.6, 0.7, 0.8};

TEST(CurveCompression, HasThePublishedWeightsAndScores) {
  const double weights[] = {0.002473, 0.047426, 0.5, 0.952574, 0.997527};
  for (int i = 0; i < 5; ++i) EXPECT_NEAR(CurveWeights{}.at(i, 5), weights[i], 1e-6);
  EXPECT_NEAR(compressed(kCurve, {}, 5).score, 0.445949, 1e-6);
  EXPECT_NEAR(compressed(std::span(kCurve).first(3), {}, 5).score, 0.159485, 1e-6);
  EXPECT_NEAR(compressed(kCurve, {.middle = -2.0, .growth = 1.0}, 5).score, 0.426940, 1e-6);
  EXPECT_NEAR(compressed(kCurve, {.middle = 3.0, .growth = 2.0}, 5).score, 0.383168, 1e-6);
}

TEST(CurveCompression, SlopesAgreeWithDifferences) {
  const CurveWeights at{.middle = 0.7, .growth = 1.3};
  const CompressedCurve curve = compressed(kCurve, at, 8);
  const double h = 1e-6;
  const auto score = [&](double middle, double growth) { return compressed(kCurve, {middle, growth}, 8).score; };
  EXPECT_NEAR(curve.middle_slope, (score(0.7 + h, 1.3) - score(0.7 - h, 1.3)) / (2.0 * h), 1e-8);
  EXPECT_NEAR(curve.growth_slope, (score(0.7, 1.3 + h) - score(0.7, 1.3 - h)) / (2.0 * h), 1e-8);
}

TEST(CurveCompression, ARunOfOneEpochIsItsOnlyValue) {
  const std::vector<double> one = {0.5};
  EXPECT_NEAR(compressed(one, {}, 1).score, 0.5 * CurveWeights{}.at(0, 1), 1e-15);
}

}  // namespace
}  // namespace bapi
