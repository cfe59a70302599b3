#include "bapi/study/earlier.h"

#include <gtest/gtest.h>

#include "bapi/study/wish.h"

namespace bapi {
namespace earlier_test {

Space space_of(std::vector<Param> params) { return Space(std::move(params)); }

const Param kRate{.name = "lr", .domain = RealRange{.low = 1e-4, .high = 1.0, .scale = Scale::log}};
const Param kUnits{.name = "units", .domain = IntRange{.low = 16, .high = 256}};
const Param kKind{.name = "kind", .domain = Choice{.options = {std::string("sgd"), std::string("adam")}}};

TEST(Translated, ParametersOfTheSameNameKeepTheirValues) {
  const Space from = space_of({kKind, kRate, kUnits});
  const Space to = space_of({kRate, kUnits, kKind});
  EXPECT_EQ(translated({{std::string("adam"), 0.1, std::int64_t{64}}}, from, to),
            (Config{{0.1, std::int64_t{64}, std::string("adam")}}));
}

TEST(Translated, NumbersStandForNumbersWhateverTheirTypes) {
  const Space reals = space_of({{.name = "units", .domain = RealRange{.low = 10.0, .high = 300.0}}});
  const Space whole = space_of({kUnits});
  const Space options =
      space_of({{.name = "units", .domain = Choice{.options = {std::int64_t{32}, std::int64_t{64}}}}});
  EXPECT_EQ(translated({{63.7}}, reals, whole), (Config{{std::int64_t{64}}}));
  EXPECT_EQ(translated({{std::int64_t{63}}}, whole, reals), (Config{{63.0}}));
  EXPECT_EQ(translated({{std::int64_t{64}}}, whole, options), (Config{{std::int64_t{64}}}));
  EXPECT_EQ(translated({{std::int64_t{32}}}, options, whole), (Config{{std::int64_t{32}}}));
}

TEST(Translated, WhatTheNewStudyDoesNotAllowIsLeftOutAndNotMoved) {
  const Space narrow = space_of({{.name = "lr", .domain = RealRange{.low = 1e-3, .high = 0.1, .scale = Scale::log}}});
  EXPECT_EQ(translated({{0.05}}, space_of({kRate}), narrow), (Config{{0.05}}));
  EXPECT_EQ(translated({{0.5}}, space_of({kRate}), narrow), std::nullopt);
  const Space other = space_of({{.name = "kind", .domain = Choice{.options = {std::string("adam"), true}}}});
  EXPECT_EQ(translated({{std::string("sgd")}}, space_of({kKind}), other), std::nullopt);
  EXPECT_EQ(translated({{std::string("sgd")}}, space_of({kKind}), space_of({{.name = "kind", .domain = RealRange{}}})),
            std::nullopt);
}

TEST(Translated, UnknownParametersStayOpenAndFixedOrFormerOnesDoNotCount) {
  const Space to = space_of({kRate, kUnits, {.name = "kind", .domain = Constant{std::string("adam")}}});
  const Space from = space_of({kRate, kKind, {.name = "momentum", .domain = RealRange{}}});
  EXPECT_EQ(translated({{0.1, std::string("sgd"), 0.9}}, from, to), (Config{{0.1, {}, {}}}));
  EXPECT_EQ(missing_in(from, to), std::vector<std::string>{"units"});
}

TEST(Translated, AValueThatDependsOnAnUnknownOneStaysOpen) {
  const Param momentum{
      .name = "momentum", .domain = RealRange{}, .when = {{.param = "kind", .values = {std::string("sgd")}}}};
  const Space to = space_of({kKind, momentum});
  const Space without = space_of({{.name = "momentum", .domain = RealRange{}}});
  EXPECT_EQ(translated({{0.9}}, without, to), (Config{{{}, {}}}));
  const Space with = space_of({kKind, {.name = "momentum", .domain = RealRange{}}});
  EXPECT_EQ(translated({{std::string("adam"), 0.9}}, with, to), (Config{{std::string("adam"), {}}}));
  const std::optional<Config> sgd = translated({{std::string("sgd"), 0.9}}, with, to);
  EXPECT_EQ(sgd, (Config{{std::string("sgd"), 0.9}}));
  EXPECT_NO_THROW(validate_wish(*sgd, to));
}

EarlierStudy study_of(const std::string& name, const std::vector<double>& rates) {
  EarlierStudy study{.name = name};
  double value = 1.0;
  for (const double rate : rates) {
    study.trials.push_back({.config = {{rate}}, .epochs = {1}, .values = {value}});
    value -= 0.1;
  }
  return study;
}

const Space kUnit = space_of({{.name = "x", .domain = RealRange{}}});

// With `params` parameters, all of the same value.
EarlierStudy study_of(const std::string& name, const std::vector<double>& rates, std::size_t params) {
  EarlierStudy study = study_of(name, rates);
  for (EarlierTrial& trial : study.trials) {
    trial.config.values.assign(params, trial.config.values.front());
  }
  return study;
}

Space unit_cube(std::size_t params) {
  std::vector<Param> all;
  for (std::size_t i = 0; i < params; ++i) all.push_back({.name = std::string(i + 1, 'x'), .domain = RealRange{}});
  return space_of(all);
}

TEST(BestOfEarlier, ThreeThatAreNotClose) {
  const auto best = best_of_earlier({study_of("old", {0.5, 0.51, 0.9, 0.91, 0.1, 0.3}, 8)}, unit_cube(8), {});
  ASSERT_EQ(best.size(), 3U);
  EXPECT_EQ(best[0].wish.values.front(), Value(0.5));
  EXPECT_EQ(best[1].wish.values.front(), Value(0.9));
  EXPECT_EQ(best[2].wish.values.front(), Value(0.1));
  EXPECT_EQ(best[0].by, "the warm start: the best of old");
  EXPECT_EQ(best[1].by, "the warm start: the second best of old");
}

TEST(BestOfEarlier, LeaveMostOfAnInitialDesignAsItIs) {
  const std::vector<std::size_t> expected = {1, 1, 1, 1, 2, 2, 2, 3, 3, 3, 3, 3};
  for (std::size_t params = 1; params <= expected.size(); ++params) {
    const EarlierStudy old = study_of("old", {0.1, 0.3, 0.5, 0.7, 0.9}, params);
    EXPECT_EQ(best_of_earlier({old}, unit_cube(params), {}).size(), expected[params - 1]) << params;
  }
}

TEST(BestOfEarlier, StudiesTakeTurnsAndEachHasOne) {
  const auto best = best_of_earlier({study_of("a", {0.1, 0.2}, 8), study_of("b", {0.9}, 8)}, unit_cube(8), {});
  ASSERT_EQ(best.size(), 3U);
  EXPECT_EQ(best[1].by, "the warm start: the best of b");
  EXPECT_EQ(best[2].wish.values.front(), Value(0.2));
  const auto five = best_of_earlier(
      {study_of("a", {0.1}), study_of("b", {0.2}), study_of("c", {0.3}), study_of("d", {0.4}), study_of("e", {0.5})},
      kUnit,
      {});
  EXPECT_EQ(five.size(), 5U);
}

TEST(BestOfEarlier, AreRowsOfThePoolIfThereIsOne) {
  std::vector<Config> pool;
  for (const double value : {0.0, 0.25, 0.5, 1.0}) pool.push_back({std::vector<Value>(8, value)});
  const auto best = best_of_earlier({study_of("old", {0.3, 0.2, 0.9}, 8)}, unit_cube(8), pool);
  ASSERT_EQ(best.size(), 2U);
  EXPECT_EQ(best[0].wish, pool[1]);
  EXPECT_EQ(best[1].wish, pool[3]);
}

}  // namespace earlier_test
}  // namespace bapi
