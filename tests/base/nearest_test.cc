#include "bapi/base/nearest.h"

#include <gtest/gtest.h>

#include <vector>

namespace bapi {
namespace {

const std::vector<std::string> kKeys = {"name", "command", "metric", "budget", "epochs", "workers", "parameters"};

TEST(Nearest, FindsTheNameWithWrongMissingExtraOrSwappedLetters) {
  EXPECT_EQ(nearest("budgat", kKeys), "budget");
  EXPECT_EQ(nearest("buget", kKeys), "budget");
  EXPECT_EQ(nearest("metrics", kKeys), "metric");
  EXPECT_EQ(nearest("epcohs", kKeys), "epochs");
}

TEST(Nearest, IgnoresCase) { EXPECT_EQ(nearest("Workers", kKeys), "workers"); }

TEST(Nearest, CompletesTheBeginningOfAName) {
  EXPECT_EQ(nearest("param", kKeys), "parameters");
  EXPECT_EQ(nearest("pa", kKeys), "");
}

TEST(Nearest, AllowsOneEditInAShortWord) {
  const std::vector<std::string> names = {"random", "bapi", "ei"};
  EXPECT_EQ(nearest("bap", names), "bapi");
  EXPECT_EQ(nearest("bai", names), "bapi");
}

TEST(Nearest, IsEmptyWhenNothingIsNear) {
  EXPECT_EQ(nearest("colour", kKeys), "");
  EXPECT_EQ(nearest("", kKeys), "");
  EXPECT_EQ(nearest("budget", {}), "");
}

TEST(Nearest, PrefersTheSmallestDistanceThenTheFirstListed) {
  const std::vector<std::string> names = {"grace", "trace", "trade"};
  EXPECT_EQ(nearest("trace", names), "trace");
  EXPECT_EQ(nearest("drace", names), "grace");
}

TEST(Nearest, OneLetterIsNotMistakenForAnother) {
  const std::vector<std::string> names = {"s", "m", "h"};
  EXPECT_EQ(nearest("j", names), "");
}

}  // namespace
}  // namespace bapi
