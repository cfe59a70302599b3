#include "bapi/study/wish.h"

#include <gtest/gtest.h>

#include "bapi/base/error.h"
#include "tests/study/random_study.h"

namespace bapi {
namespace {

using namespace std::string_literals;

Space space() {
  return Space({{.name = "lr", .domain = RealRange{.low = 1e-6, .high = 1.0, .scale = Scale::log}},
                {.name = "units", .domain = IntRange{.low = 16, .high = 256}},
                {.name = "optimizer", .domain = Choice{.options = {"sgd"s, "adam"s}}},
                {.name = "momentum",
                 .domain = RealRange{.low = 0.1, .high = 0.9},
                 .when = {{.param = "optimizer", .values = {"sgd"s}}}},
                {.name = "depth", .domain = Constant{std::int64_t{3}}}});
}

std::string mistake(const NamedValues& given) {
  try {
    wish_of(given, space());
  } catch (const InvalidInput& error) {
    return error.what();
  }
  return "none";
}

TEST(Wish, NumbersAreTakenAsTheParameterHasThem) {
  const Config wish = wish_of({{"lr", std::int64_t{1}}, {"units", 64.0}}, space());
  EXPECT_EQ(wish.values, (std::vector<Value>{1.0, std::int64_t{64}, Value{}, Value{}, Value{}}));
}

TEST(Wish, MistakesSayWhatWasFoundAndExpected) {
  EXPECT_EQ(mistake({{"lr", 2.0}}), "lr: found 2, expected a number from 1e-06 to 1");
  EXPECT_EQ(mistake({{"units", 16.5}}), "units: found 16.5, expected a whole number from 16 to 256");
  EXPECT_EQ(mistake({{"optimizer", "lbfgs"s}}), "optimizer: found lbfgs, expected one of sgd, adam");
  EXPECT_EQ(mistake({{"depth", std::int64_t{4}}}), "depth: found 4, expected 3");
  EXPECT_EQ(mistake({{"unit", std::int64_t{64}}}), "there is no parameter unit; did you mean units?");
  EXPECT_EQ(mistake({}), "found no value, expected at least one, for example lr=0.1");
}

TEST(Wish, AParameterNeedsWhatItDependsOn) {
  EXPECT_EQ(mistake({{"momentum", 0.5}}),
            "momentum: found 0.5, but it applies only where optimizer is sgd; give that too, or leave momentum out");
  EXPECT_EQ(mistake({{"momentum", 0.5}, {"optimizer", "adam"s}}),
            "momentum: found 0.5, but it applies only where optimizer is sgd; give that too, or leave momentum out");
  EXPECT_EQ(mistake({{"momentum", 0.5}, {"optimizer", "sgd"s}}), "none");
}

TEST(Wish, WhatIsLeftOpenComesFromTheProposal) {
  const Config proposal{{0.01, std::int64_t{32}, "sgd"s, 0.7, std::int64_t{3}}};
  const Config whole = completed(wish_of({{"units", std::int64_t{64}}}, space()), proposal, space());
  EXPECT_EQ(whole.values, (std::vector<Value>{0.01, std::int64_t{64}, "sgd"s, 0.7, std::int64_t{3}}));
  EXPECT_EQ(left_open(wish_of({{"units", std::int64_t{64}}}, space()), whole, space()),
            (std::vector<std::string>{"lr", "optimizer", "momentum"}));
}

TEST(Wish, AParameterThatAppliesOnlyInTheWishIsInTheMiddle) {
  const Config proposal{{0.01, std::int64_t{32}, "adam"s, Value{}, std::int64_t{3}}};
  const Config whole = completed(wish_of({{"optimizer", "sgd"s}}, space()), proposal, space());
  EXPECT_EQ(std::get<double>(whole.values[3]), 0.5);
  const Config other = completed(
      wish_of({{"optimizer", "adam"s}}, space()), {{0.01, std::int64_t{32}, "sgd"s, 0.7, std::int64_t{3}}}, space());
  EXPECT_EQ(other.values[3], Value{});
}

TEST(Wish, IsWrittenAsItIsGivenToAdd) {
  EXPECT_EQ(wish_text(wish_of({{"lr", 0.1}, {"optimizer", "sgd"s}}, space()), space()), "lr=0.1 optimizer=sgd");
}

TEST(Wish, AnyPartOfAnyConfigurationIsAWishThatItCompletes) {
  Rng rng(7);
  for (int i = 0; i < 300; ++i) {
    const Space any = testing_support::any_space(rng);
    const Config config = any.sample(rng);
    NamedValues given;
    for (std::size_t p = 0; p < any.params().size(); ++p) {
      const bool has_value = !std::holds_alternative<std::monostate>(config.values[p]);
      if (has_value && (p == 0 || rng.below(2) == 0)) given[any.params()[p].name] = config.values[p];
    }
    const Config wish = wish_of(given, any);
    EXPECT_EQ(completed(wish, config, any), config);
    EXPECT_NO_THROW(any.validate(completed(wish, any.sample(rng), any)));
  }
}

}  // namespace
}  // namespace bapi
