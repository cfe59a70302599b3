#include "bapi/space/space.h"

#include <gtest/gtest.h>

#include <map>

#include "bapi/base/error.h"

namespace bapi {
namespace {

Space mixed_space() {
  return Space({{.name = "lr", .domain = RealRange{.low = 1e-6, .high = 1.0, .scale = Scale::log}},
                {.name = "units", .domain = IntRange{.low = 16, .high = 256, .scale = Scale::log}},
                {.name = "optimizer",
                 .domain = Choice{.options = {std::string("sgd"), std::string("adam"), std::string("lion")}}},
                {.name = "momentum",
                 .domain = RealRange{.low = 0.1, .high = 0.9},
                 .when = {{.param = "optimizer", .values = {std::string("sgd")}}}},
                {.name = "batch",
                 .domain = Choice{.options = {std::int64_t{32}, std::int64_t{64}, std::int64_t{128}},
                                  .order = Choice::Order::ordered}},
                {.name = "decay", .domain = RealRange{.low = 0.9, .high = 0.9999, .scale = Scale::log_complement}},
                {.name = "depth", .domain = Constant{std::int64_t{3}}}});
}

std::string message_of(std::vector<Param> params) {
  try {
    Space space(std::move(params));
  } catch (const InvalidInput& e) {
    return e.what();
  }
  return "(accepted)";
}

TEST(Space, DecodeInvertsEncodeForRandomConfigurations) {
  const Space space = mixed_space();
  Rng rng(1);
  for (int i = 0; i < 2000; ++i) {
    const Config config = space.sample(rng);
    Config decoded = space.decode(space.encode(config));
    // Reals pass through a logarithm and back: equal to rounding error, everything else exactly.
    for (const std::size_t real : {0U, 3U, 5U}) {
      if (!std::holds_alternative<double>(config.values[real])) continue;
      EXPECT_NEAR(std::get<double>(decoded.values[real]) / std::get<double>(config.values[real]), 1.0, 1e-12);
      decoded.values[real] = config.values[real];
    }
    EXPECT_EQ(decoded, config);
    space.validate(config);
  }
}

TEST(Space, EncodedPointsLieInTheUnitCube) {
  const Space space = mixed_space();
  EXPECT_EQ(space.unit_dim(), 6);
  EXPECT_EQ(space.encoded_dim(), 8);  // three columns for the optimizer
  Rng rng(2);
  for (int i = 0; i < 200; ++i) {
    const Vector x = space.encode(space.sample(rng));
    EXPECT_GE(x.minCoeff(), 0.0);
    EXPECT_LE(x.maxCoeff(), 1.0);
  }
}

TEST(Space, EveryIntegerAndOptionIsEquallyLikely) {
  const Space space({{.name = "n", .domain = IntRange{.low = 1, .high = 5}},
                     {.name = "c", .domain = Choice{.options = {true, false}}}});
  Rng rng(3);
  std::map<std::string, int> counts;
  constexpr int kDraws = 20000;
  for (int i = 0; i < kDraws; ++i) {
    const Config config = space.sample(rng);
    ++counts[to_text(config.values[0])];
    ++counts[to_text(config.values[1])];
  }
  for (int n = 1; n <= 5; ++n) EXPECT_NEAR(counts[std::to_string(n)], kDraws / 5, 300);  // five standard deviations
  EXPECT_NEAR(counts["true"], kDraws / 2, 360);
}

TEST(Space, ConditionalParameterHasAValueExactlyWhereItApplies) {
  const Space space = mixed_space();
  Rng rng(4);
  int with = 0;
  for (int i = 0; i < 300; ++i) {
    const Config config = space.sample(rng);
    const bool sgd = to_text(config.values[2]) == "sgd";
    EXPECT_EQ(std::holds_alternative<double>(config.values[3]), sgd);
    with += sgd ? 1 : 0;
  }
  EXPECT_GT(with, 50);
}

TEST(Space, DecodeFindsAValidConfigurationForAnyPoint) {
  const Space space = mixed_space();
  Rng rng(5);
  for (int i = 0; i < 500; ++i) {
    Vector x(space.encoded_dim());
    for (double& coordinate : x) coordinate = 1.4 * rng.uniform() - 0.2;
    EXPECT_NO_THROW(space.validate(space.decode(x)));
  }
}

TEST(Space, BoundsAreReachedExactly) {
  const Space space({{.name = "lr", .domain = RealRange{.low = 1e-6, .high = 0.3, .scale = Scale::log}}});
  EXPECT_EQ(std::get<double>(space.from_unit(Vector::Zero(1)).values[0]), 1e-6);
  EXPECT_EQ(std::get<double>(space.from_unit(Vector::Ones(1)).values[0]), 0.3);
}

TEST(Space, ListsEveryConfigurationOfASmallFiniteSpaceOnce) {
  const Space space({{.name = "opt", .domain = Choice{.options = {std::string("sgd"), std::string("adam")}}},
                     {.name = "nesterov",
                      .domain = Choice{.options = {true, false}},
                      .when = {{.param = "opt", .values = {std::string("sgd")}}}},
                     {.name = "layers", .domain = IntRange{.low = -1, .high = 1}},
                     {.name = "depth", .domain = Constant{std::int64_t{3}}}});
  const std::optional<std::vector<Config>> all = space.all(9);
  ASSERT_TRUE(all.has_value());
  EXPECT_EQ(all->size(), 9U);  // sgd with two, adam with none, times three
  for (std::size_t i = 0; i < all->size(); ++i) {
    EXPECT_NO_THROW(space.validate((*all)[i]));
    for (std::size_t j = 0; j < i; ++j) EXPECT_NE((*all)[i], (*all)[j]);
  }
  EXPECT_FALSE(space.all(8).has_value());
  EXPECT_FALSE(mixed_space().all(1'000'000).has_value());
  const Space huge({{.name = "n", .domain = IntRange{.low = INT64_MIN / 2, .high = INT64_MAX / 2}}});
  EXPECT_FALSE(huge.all(1000).has_value());
}

TEST(Space, RefusesWhatMakesNoSense) {
  EXPECT_NE(message_of({}).find("at least one parameter"), std::string::npos);
  EXPECT_NE(
      message_of({{.name = "a", .domain = RealRange{.low = 2.0, .high = 1.0}}}).find("min = 2 is not below max = 1"),
      std::string::npos);
  EXPECT_NE(message_of({{.name = "a", .domain = RealRange{.low = 0.0, .high = 1.0, .scale = Scale::log}}})
                .find("must be positive"),
            std::string::npos);
  EXPECT_NE(message_of({{.name = "a", .domain = Choice{}}}).find("empty list"), std::string::npos);
  EXPECT_NE(message_of({{.name = "a", .domain = RealRange{}}, {.name = "a", .domain = RealRange{}}}).find("used twice"),
            std::string::npos);
  EXPECT_NE(message_of({{.name = "a", .domain = RealRange{}, .when = {{.param = "b", .values = {true}}}}})
                .find("there is no parameter b"),
            std::string::npos);
  const std::string circle = message_of({{.name = "a", .domain = Choice{.options = {true}}, .when = {{"b", {true}}}},
                                         {.name = "b", .domain = Choice{.options = {true}}, .when = {{"a", {true}}}}});
  EXPECT_NE(circle.find("form a circle"), std::string::npos);
  EXPECT_NE(message_of({{.name = "o", .domain = Choice{.options = {std::string("sgd")}}},
                        {.name = "m", .domain = RealRange{}, .when = {{"o", {std::string("adam")}}}}})
                .find("adam is not a value that o can have"),
            std::string::npos);
}

TEST(Space, ADoubleIsWrittenWithAsFewDigitsAsReadBackTheSame) {
  EXPECT_EQ(to_text(Value(0.1)), "0.1");
  EXPECT_EQ(to_text(Value(1e-5)), "1e-05");
  EXPECT_EQ(std::stod(to_text(Value(1.0 / 3.0))), 1.0 / 3.0);
}

}  // namespace
}  // namespace bapi
