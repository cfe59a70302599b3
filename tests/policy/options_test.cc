#include "bapi/policy/options.h"

#include <gtest/gtest.h>

#include "bapi/base/error.h"

namespace bapi {
namespace {

const std::vector<std::string> kNames = {"runs"};

std::optional<int> runs_of(const Value& value) {
  const PolicySpec spec{.name = "made", .options = {{"runs", value}}};
  return OptionReader(spec, kNames).integer_or("runs", "auto", std::nullopt, 1, 9);
}

TEST(OptionReader, TakesAWholeNumberOrTheWord) {
  EXPECT_EQ(runs_of(std::int64_t{3}), 3);
  EXPECT_EQ(runs_of(std::string("auto")), std::nullopt);
  EXPECT_EQ(OptionReader({.name = "made"}, kNames).integer_or("runs", "auto", std::nullopt, 1, 9), std::nullopt);
}

TEST(OptionReader, NeverRoundsANumber) {
  EXPECT_THROW(runs_of(2.7), InvalidInput);
  EXPECT_THROW(runs_of(std::int64_t{0}), InvalidInput);
  EXPECT_THROW(runs_of(std::int64_t{10}), InvalidInput);
  EXPECT_THROW(runs_of(std::string("many")), InvalidInput);
}

TEST(OptionReader, NamesTheNearestOption) {
  const PolicySpec spec{.name = "made", .options = {{"rnus", std::int64_t{3}}}};
  try {
    const OptionReader reader(spec, kNames);
    FAIL();
  } catch (const InvalidInput& error) {
    EXPECT_NE(std::string(error.what()).find("did you mean runs?"), std::string::npos);
  }
}

}  // namespace
}  // namespace bapi
