#include "bapi/planner/curve_points.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "bapi/base/error.h"
#include "tests/support/curves.h"

namespace bapi {
namespace {

std::vector<Epoch> up_to(Epoch last) {
  std::vector<Epoch> epochs(static_cast<std::size_t>(last));
  std::iota(epochs.begin(), epochs.end(), 1);
  return epochs;
}

TEST(CurvePoints, TheLastEpochIsAlwaysKept) {
  Rng rng(1);
  const curves::Data data = curves::simulate(6, 2, 50, rng);
  const ExactGp gp = curves::fitted(data, TimeKind::exponential_decay, rng);
  const CurvePointChoice choice = choose_curve_points(gp, Vector::Constant(2, 0.4), -1, up_to(33), 50);
  EXPECT_EQ(choice.epochs.front(), 33);
  EXPECT_EQ(choice.epochs.size(), 3u);
}

// The greedy rule by brute force: append each choice to the model and look for the largest variance again.
TEST(CurvePoints, EachChoiceHasTheLargestVarianceGivenTheOnesBefore) {
  Rng rng(2);
  const curves::Data data = curves::simulate(6, 2, 50, rng);
  ExactGp gp = curves::fitted(data, TimeKind::rbf, rng);
  const Vector x = Vector::Constant(2, 0.3);
  const CurvePointChoice choice = choose_curve_points(gp, x, -1, up_to(40), 50, {.count = 4, .last = LastEpoch::free});
  for (std::size_t k = 0; k < choice.epochs.size(); ++k) {
    const Vector variance = gp.predict(Rows::of_curve(x, up_to(40), 50, -1)).variance;
    EXPECT_NEAR(choice.variance[static_cast<Eigen::Index>(k)], variance.maxCoeff(), 1e-8);
    gp.append(Rows::of_curve(x, {choice.epochs[k]}, 50, -1), Vector::Zero(1));
  }
}

TEST(CurvePoints, AShortCurveIsKeptWhole) {
  Rng rng(3);
  const curves::Data data = curves::simulate(6, 2, 50, rng);
  const ExactGp gp(data.rows, data.y, curves::structure(TimeKind::exponential_decay, 2));
  EXPECT_EQ(choose_curve_points(gp, Vector::Constant(2, 0.3), -1, {1, 2}, 50).epochs.size(), 2u);
  EXPECT_THROW(choose_curve_points(gp, Vector::Constant(2, 0.3), -1, {1, 2}, 50, {.count = 0}), InvalidInput);
}

}  // namespace
}  // namespace bapi
