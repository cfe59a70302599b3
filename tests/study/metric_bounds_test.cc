#include "bapi/study/metric_bounds.h"

#include <gtest/gtest.h>

namespace bapi {
namespace {

TEST(MetricBounds, ComeFromTheNameAndTheValues) {
  EXPECT_EQ(assumed_bounds("accuracy", {0.3, 0.9}), (MetricBounds{.low = 0.0, .high = 1.0}));
  EXPECT_EQ(assumed_bounds("val_acc", {31.0, 90.5}), (MetricBounds{.low = 0.0, .high = 100.0}));
  EXPECT_EQ(assumed_bounds("validAUC", {0.5}), (MetricBounds{.low = 0.0, .high = 1.0}));
  EXPECT_EQ(assumed_bounds("val/loss", {3.2}).low, 0.0);
  EXPECT_EQ(assumed_bounds("perplexity", {40.0}).low, 1.0);
  EXPECT_GT(assumed_bounds("loss", {3.2}).high, 1e300);
}

TEST(MetricBounds, AreUnknownWhereNameOrValuesDoNotAgree) {
  EXPECT_FALSE(assumed_bounds("reward", {0.5}).known());
  EXPECT_FALSE(assumed_bounds("loss", {-0.5}).known()) << "a loss may be a negative log likelihood";
  EXPECT_FALSE(assumed_bounds("accuracy", {-0.1}).known());
  EXPECT_FALSE(assumed_bounds("accuracy", {3000.0}).known());
  EXPECT_FALSE(assumed_bounds("glossiness", {0.5}).known()) << "words, not parts of them";
}

TEST(MetricBounds, NamesSayWhichWayIsBetter) {
  EXPECT_EQ(usual_goal("test_accuracy"), Goal::maximize);
  EXPECT_EQ(usual_goal("accuracy_error"), Goal::minimize);
  EXPECT_EQ(usual_goal("reward"), std::nullopt);
}

}  // namespace
}  // namespace bapi
