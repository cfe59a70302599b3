#include "bapi/cost/linear_cost.h"

#include <gtest/gtest.h>

#include "bapi/base/error.h"

namespace bapi {
namespace {

CostData line(double rate) {
  CostData data{.x = Matrix::Constant(3, 1, 0.5), .epochs = {5, 10, 20}, .costs = Vector(3), .groups = {0, 0, 0}};
  data.costs << 5.0 * rate, 10.0 * rate, 20.0 * rate;
  return data;
}

GpParameters parameters() {
  GpParameters p;
  p.kernel.space = {SpaceKind::rbf, Vector::Constant(1, 0.5)};
  p.kernel.time = {.kind = TimeKind::linear};
  p.noise = 1e-6;
  return p;
}

TEST(LinearCost, PaperKernelGivesCostInProportionToTheEpochs) {
  const LinearCost cost(line(2.0), 50, parameters(), cost_scale(line(2.0), 50), LinearCost::Mean::zero);
  const Matrix x = Matrix::Constant(2, 1, 0.5);
  const Vector predicted = cost.mean(x, {25, 50});
  EXPECT_NEAR(predicted(0), 50.0, 0.1);
  EXPECT_NEAR(predicted(1), 2.0 * predicted(0), 1e-9);
}

TEST(LinearCost, FarFromDataTheLiteralFormIsFreeAndTheLinearMeanIsNot) {
  const Matrix far = Matrix::Constant(1, 1, 30.0);
  const double scale = cost_scale(line(2.0), 50);
  EXPECT_NEAR(LinearCost(line(2.0), 50, parameters(), scale, LinearCost::Mean::zero).mean(far, {50})(0), 0.0, 1e-12);
  EXPECT_NEAR(
      LinearCost(line(2.0), 50, parameters(), scale, LinearCost::Mean::proportional).mean(far, {50})(0), 100.0, 0.1);
}

TEST(CostScale, IsTheRootMeanSquareRateOfAFullRun) {
  EXPECT_DOUBLE_EQ(cost_scale(line(2.0), 50), 100.0);
  EXPECT_NEAR(cost_scale(line(1e300), 50) / 5e301, 1.0, 1e-12);
}

TEST(LowestCredibleRate, IsATenthOfTheCheapestEpoch) { EXPECT_DOUBLE_EQ(lowest_credible_rate(line(2.0)), 0.2); }

TEST(CostData, EpochZeroIsRefused) {
  CostData data = line(1.0);
  data.epochs[0] = 0;
  EXPECT_THROW(data.validate(), InvalidInput);
}

}  // namespace
}  // namespace bapi
