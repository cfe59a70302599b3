#include "bapi/base/nearest.h"

#include <gtest/gtest.h>

#include <vector>

namespace bapi {
namespace {

const std::vector<std::string> kWords = {"budget", "deadline", "epochs", "policy", "bapi"};

TEST(Nearest, FindsTheWordWithFewestEdits) {
  EXPECT_EQ(nearest("bugdet", kWords), "budget");
  EXPECT_EQ(nearest("epoch", kWords), "epochs");
  EXPECT_EQ(nearest("dedline", kWords), "deadline");
}

TEST(Nearest, AnswersNothingWhenNoWordIsNear) {
  EXPECT_EQ(nearest("optimizer", kWords), "");
  EXPECT_EQ(nearest("", kWords), "");
}

TEST(Nearest, AllowsOneEditInAShortWord) { EXPECT_EQ(nearest("bap", kWords), "bapi"); }

}  // namespace
}  // namespace bapi
