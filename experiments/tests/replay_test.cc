#include "replay.h"

#include <gtest/gtest.h>

namespace experiments {
namespace {

TEST(SumTree, FindsThePlaceThatAPlainLoopFinds) {
  Generator generator{.state = 3};
  SumTree tree(100);
  std::vector<double> weights(100, 0.0);
  for (int round = 0; round < 2000; ++round) {
    const auto place = static_cast<std::size_t>(generator.below(100));
    weights[place] = generator.uniform() < 0.3 ? 0.0 : generator.below(8);  // whole numbers: sums are exact
    tree.set(place, weights[place]);
    if (tree.total() <= 0.0) continue;
    const double at = generator.uniform() * tree.total();
    double sum = 0.0;
    std::size_t expected = 0;
    while (sum + weights[expected] <= at) sum += weights[expected++];
    ASSERT_EQ(tree.find(at), expected);
    ASSERT_GT(tree.weight(tree.find(at)), 0.0);
  }
}

Replay::Step numbered(int number) {
  return {.before = Eigen::VectorXd::Constant(2, number),
          .action = number % 3,
          .reward = static_cast<double>(number),
          .terminal = number % 2 == 0,
          .after = Eigen::VectorXd::Constant(2, number + 0.5)};
}

TEST(Replay, ForgetsTheOldestStepsFirst) {
  Replay replay(2);
  for (int i = 0; i < Replay::kDepth + 10; ++i) replay.add(numbered(i));
  EXPECT_EQ(replay.size(), Replay::kDepth);
  Generator generator{.state = 4};
  const Replay::Batch batch = replay.draw(5000, generator);
  EXPECT_GE(batch.rewards.minCoeff(), 10.0);
  for (Eigen::Index i = 0; i < batch.rewards.size(); ++i) {
    const int number = static_cast<int>(batch.rewards[i]);
    ASSERT_EQ(batch.before(0, i), number);
    ASSERT_EQ(batch.after(1, i), number + 0.5);
    ASSERT_EQ(batch.actions[static_cast<std::size_t>(i)], number % 3);
    ASSERT_EQ(batch.future[i], number % 2 == 0 ? 0.0 : 1.0);
  }
}

TEST(Replay, DrawsWhatHadALargeErrorMoreOftenAndWeighsItLess) {
  Replay replay(2);
  for (int i = 0; i < 10; ++i) replay.add(numbered(i));
  Eigen::VectorXd errors = Eigen::VectorXd::Constant(10, 0.1);
  errors[7] = 5.0;
  replay.set_priorities({0, 1, 2, 3, 4, 5, 6, 7, 8, 9}, errors);
  Generator generator{.state = 5};
  const Replay::Batch batch = replay.draw(4000, generator);
  const auto sevens = (batch.rewards.array() == 7.0).count();
  // 5.001^0.6 against nine times 0.101^0.6: a share of 0.537
  EXPECT_NEAR(static_cast<double>(sevens) / 4000.0, 0.537, 0.04);
  for (Eigen::Index i = 0; i < 4000; ++i) ASSERT_EQ(batch.weights[i] < 1.0, batch.rewards[i] == 7.0);
}

TEST(Replay, IsTheSameAfterSavingAndLoading) {
  Replay replay(2);
  for (int i = 0; i < 300; ++i) replay.add(numbered(i));
  replay.set_priorities({1, 5, 9}, Eigen::Vector3d(2.0, 0.3, 4.0));
  ArchiveWriter written;
  replay.save(written);
  Replay loaded(2);
  ArchiveReader reader(written.bytes());
  loaded.load(reader);
  EXPECT_TRUE(reader.at_end());
  Generator one{.state = 6};
  Generator other{.state = 6};
  replay.add(numbered(300));
  loaded.add(numbered(300));
  const Replay::Batch a = replay.draw(500, one);
  const Replay::Batch b = loaded.draw(500, other);
  EXPECT_EQ(a.places, b.places);
  EXPECT_EQ(a.weights, b.weights);
  EXPECT_EQ(a.before, b.before);
}

}  // namespace
}  // namespace experiments
