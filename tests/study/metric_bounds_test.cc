#include "bapi/study/metric_bounds.h"

#include <gtest/gtest.h>

#include "bapi/base/error.h"

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

TEST(MetricBounds, OfANameThatSaysPercentAreThoseBeforeAValueIsAboveOne) {
  EXPECT_EQ(assumed_bounds("val_accuracy_percent", {0.7}), (MetricBounds{.low = 0.0, .high = 100.0}));
}

TEST(MetricBounds, GivenOnesTakePrecedence) {
  const MetricBounds given{.low = -21.0, .high = 21.0};
  EXPECT_EQ(bounds_of({.name = "accuracy", .bounds = given}, {0.5}), given);
  EXPECT_FALSE(bounds_of({.name = "accuracy", .bounds = MetricBounds{}}, {0.5}).known());
  EXPECT_EQ(bounds_of({.name = "accuracy"}, {0.5}), (MetricBounds{.low = 0.0, .high = 1.0}));
}

TEST(MetricBounds, AreTwoEndsOfWhichEitherMayBeLeftOut) {
  EXPECT_EQ(parse_bounds("0,1", "--bounds"), (MetricBounds{.low = 0.0, .high = 1.0}));
  EXPECT_EQ(parse_bounds(" -2.5, ", "--bounds"), MetricBounds{.low = -2.5});
  EXPECT_EQ(parse_bounds(",0", "--bounds"), MetricBounds{.high = 0.0});
  for (const char* text : {"", "1", "1,0", "0,0", "0,1,2", "a,b", "nan,1"}) {
    EXPECT_THROW(parse_bounds(text, "--bounds"), InvalidInput) << text;
  }
}

TEST(MetricBounds, NamesSayWhichWayIsBetter) {
  EXPECT_EQ(usual_goal("test_accuracy"), Goal::maximize);
  EXPECT_EQ(usual_goal("accuracy_error"), Goal::minimize);
  EXPECT_EQ(usual_goal("reward"), std::nullopt);
}

}  // namespace
}  // namespace bapi
