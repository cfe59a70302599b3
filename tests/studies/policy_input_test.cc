#include "bapi/studies/policy_input.h"

#include <gtest/gtest.h>

#include "bapi/base/error.h"

namespace bapi {
namespace {

TEST(ComparedPolicy, IsItsOwnLabelUnlessItHasOne) {
  EXPECT_EQ(parse_compared_policy("bapi"), (ComparedPolicy{"bapi", {.name = "bapi"}}));
  const PolicySpec far{.name = "bapi-4", .options = {{"horizon", std::int64_t{8}}, {"monotone", std::string("off")}}};
  EXPECT_EQ(parse_compared_policy("bapi-4:horizon=8:monotone=off"),
            (ComparedPolicy{"bapi-4:horizon=8:monotone=off", far}));
  EXPECT_EQ(parse_compared_policy("far=bapi-4:horizon=8:monotone=off"), (ComparedPolicy{"far", far}));
}

TEST(ComparedPolicy, RefusesWhatHasNoNameOrNoValue) {
  for (const char* text : {"", "=bapi", "label=", ":horizon=8", "bapi:horizon", "bapi:"}) {
    EXPECT_THROW(parse_compared_policy(text), InvalidInput) << text;
  }
}

}  // namespace
}  // namespace bapi
