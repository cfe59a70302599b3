#include "bapi/policy/option_table.h"

#include <gtest/gtest.h>

#include "bapi/base/error.h"

namespace bapi {
namespace {

enum class Taste { sweet, sour };

struct Made {
  int runs = 3;
  double share = 0.25;
  bool warm = true;
  Taste taste = Taste::sour;
  std::optional<int> most = {};
  std::optional<double> least = 0.5;
  int old = 7;
};

OptionTable<Made> table() {
  return OptionTable<Made>()
      .integer(
          "runs", [](Made & o) -> auto& { return o.runs; }, 1, 9, "how many")
      .real(
          "share", [](Made & o) -> auto& { return o.share; }, 0.0, 1.0, "how much")
      .flag(
          "warm", [](Made & o) -> auto& { return o.warm; }, "whether")
      .word<Taste>(
          "taste", [](Made & o) -> auto& { return o.taste; }, {{"sweet", Taste::sweet}, {"sour", Taste::sour}}, "which")
      .integer_or(
          "most", [](Made & o) -> auto& { return o.most; }, "auto", 1, 9, "at most")
      .real_or(
          "least", [](Made & o) -> auto& { return o.least; }, "auto", 0.0, 1.0, "at least")
      .integer(
          "old", [](Made & o) -> auto& { return o.old; }, 1, 9, "not used any more")
      .retired();
}

Made read(std::map<std::string, Value> options) {
  return table().read({.name = "made", .options = std::move(options)}, {});
}

TEST(OptionTable, ShowsTheValuesOfTheStructAndTheRangesThatItChecks) {
  std::vector<std::string> shown;
  for (const PolicyOptionInfo& info : table().describe({})) {
    shown.push_back(info.name + " = " + info.default_value + ": " + info.help);
  }
  EXPECT_EQ(shown,
            (std::vector<std::string>{"runs = 3: how many; 1 to 9",
                                      "share = 0.25: how much; 0 to 1",
                                      "warm = on: whether; on or off",
                                      "taste = sour: which",
                                      "most = auto: at most; auto or 1 to 9",
                                      "least = 0.5: at least; auto or 0 to 1"}));
}

TEST(OptionTable, SetsTheMemberThatAnOptionNames) {
  const Made made = read({{"runs", std::int64_t{5}},
                          {"share", 0.75},
                          {"warm", false},
                          {"taste", std::string("sweet")},
                          {"most", std::int64_t{2}},
                          {"least", std::string("auto")}});
  EXPECT_EQ(made.runs, 5);
  EXPECT_EQ(made.share, 0.75);
  EXPECT_FALSE(made.warm);
  EXPECT_EQ(made.taste, Taste::sweet);
  EXPECT_EQ(made.most, 2);
  EXPECT_EQ(made.least, std::nullopt);
}

TEST(OptionTable, RefusesWhatItDoesNotKnowAndValuesOutOfTheirRange) {
  EXPECT_THROW(read({{"rnus", std::int64_t{5}}}), InvalidInput);
  EXPECT_THROW(read({{"runs", std::int64_t{10}}}), InvalidInput);
  EXPECT_THROW(read({{"taste", std::string("bitter")}}), InvalidInput);
}

TEST(OptionTable, TakesARetiredOptionThatItDoesNotShow) {
  EXPECT_EQ(read({{"old", std::int64_t{8}}}).old, 8);
  EXPECT_THROW(read({{"old", std::int64_t{10}}}), InvalidInput);
}

}  // namespace
}  // namespace bapi
