#include "bapi/kernel/rows.h"

#include <gtest/gtest.h>

#include "bapi/base/error.h"

namespace bapi {
namespace {

TEST(Rows, TauIsTheShareOfTheLastEpoch) {
  const Rows rows = Rows::at_epochs(Matrix::Zero(3, 2), {0, 10, 50}, 50);
  EXPECT_EQ(rows.tau, (Vector(3) << 0.0, 0.2, 1.0).finished());
  EXPECT_TRUE(rows.all_values());
}

TEST(Rows, AppendOfTheSameScaleKeepsWholeEpochs) {
  Rows rows = Rows::at_epochs(Matrix::Zero(1, 2), {5}, 50);
  rows.append(Rows::of_curve(Vector::Ones(2), {7, 8}, 50, 3, Op::slope));
  rows.check_shape();
  EXPECT_EQ(rows.size(), 3);
  EXPECT_EQ(rows.max_epoch, 50);
  EXPECT_EQ(rows.epoch, (std::vector<Epoch>{5, 7, 8}));
  EXPECT_EQ(rows.group, (std::vector<int>{0, 3, 3}));
  EXPECT_FALSE(rows.all_values());
}

TEST(Rows, AppendOfAnotherScaleFallsBackToTau) {
  Rows rows = Rows::at_epochs(Matrix::Zero(1, 2), {5}, 50);
  rows.append(Rows::at_taus(Matrix::Ones(1, 2), Vector::Constant(1, 0.33)));
  rows.check_shape();
  EXPECT_EQ(rows.max_epoch, 0);
  EXPECT_EQ(rows.tau, (Vector(2) << 0.1, 0.33).finished());
}

TEST(Rows, TruncateUndoesAppend) {
  Rows rows = Rows::at_epochs(Matrix::Zero(2, 1), {5, 6}, 50);
  rows.append(Rows::at_epochs(Matrix::Ones(2, 1), {7, 8}, 50));
  rows.truncate(2);
  rows.check_shape();
  EXPECT_EQ(rows.x, Matrix::Zero(2, 1));
  EXPECT_EQ(rows.epoch, (std::vector<Epoch>{5, 6}));
}

TEST(Rows, SelectTakesRowsInTheGivenOrder) {
  const Rows rows = Rows::at_epochs((Matrix(3, 1) << 0.1, 0.2, 0.3).finished(), {1, 2, 3}, 4, {7, 8, 9});
  const Rows chosen = rows.select({2, 0, 2});
  chosen.check_shape();
  EXPECT_EQ(chosen.x, (Matrix(3, 1) << 0.3, 0.1, 0.3).finished());
  EXPECT_EQ(chosen.group, (std::vector<int>{9, 7, 9}));
}

TEST(Rows, EpochsOutsideTheScaleAreABug) {
  EXPECT_THROW(Rows::at_epochs(Matrix::Zero(1, 1), {51}, 50), LogicError);
  EXPECT_THROW(Rows::at_epochs(Matrix::Zero(1, 1), {-1}, 50), LogicError);
  EXPECT_THROW(Rows::at_epochs(Matrix::Zero(2, 1), {1}, 50), LogicError);
}

}  // namespace
}  // namespace bapi
