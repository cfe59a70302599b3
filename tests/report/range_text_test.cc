#include "bapi/report/range_text.h"

#include <gtest/gtest.h>

namespace bapi {
namespace {

Space space() {
  return Space({{.name = "lr", .domain = RealRange{.low = 1e-5, .high = 1.0, .scale = Scale::log}},
                {.name = "depth", .domain = IntRange{.low = 1, .high = 8}},
                {.name = "seed", .domain = Constant{Value{std::int64_t{3}}}},
                {.name = "batch",
                 .domain = Choice{.options = {Value{std::int64_t{16}},
                                              Value{std::int64_t{32}},
                                              Value{std::int64_t{64}},
                                              Value{std::int64_t{128}}},
                                  .order = Choice::Order::ordered}},
                {.name = "opt", .domain = Choice{.options = {Value{"sgd"}, Value{"adam"}}}},
                {.name = "momentum", .domain = RealRange{}, .when = {{.param = "opt", .values = {Value{"sgd"}}}}}});
}

Config config(double lr, std::int64_t depth, std::int64_t batch) {
  return {{lr, depth, std::int64_t{3}, batch, "adam", std::monostate{}}};
}

TEST(RangeText, SaysHowAParameterVaries) {
  EXPECT_EQ(domain_text(space().params()[0]), "1e-05 to 1, log scale");
  EXPECT_EQ(domain_text(space().params()[1]), "1 to 8, whole numbers");
  EXPECT_EQ(domain_text(space().params()[5]), "0 to 1, if opt is sgd");
}

TEST(RangeText, NamesWhatLiesAtAnEnd) {
  EXPECT_TRUE(at_the_ends(space(), config(1e-2, 4, 64)).empty());
  const std::vector<std::string> found = at_the_ends(space(), config(0.95, 1, 128));
  ASSERT_EQ(found.size(), 3U);
  EXPECT_EQ(found[0],
            "lr lies close to the upper end of its range (1e-05 to 1, log scale): better values may lie beyond it");
  EXPECT_TRUE(at_the_ends(space(), config(1e-5, 4, 64)).at(0).starts_with("lr lies at the lower end"));
  EXPECT_TRUE(found[1].starts_with("depth lies at the lower end")) << found[1];
  EXPECT_TRUE(found[2].starts_with("batch lies at the upper end")) << found[2];
}

TEST(RangeText, FewValuesAreAllAtTheirEnds) {
  const Space flags({{.name = "layers", .domain = IntRange{.low = 1, .high = 3}}});
  EXPECT_TRUE(at_the_ends(flags, {{std::int64_t{3}}}).empty());
}

}  // namespace
}  // namespace bapi
