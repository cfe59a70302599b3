#include "bapi/policy/registry.h"

#include <gtest/gtest.h>

#include <future>

#include "bapi/tables/simulate.h"
#include "tests/support/tables.h"

namespace bapi {
namespace {

// Tables that are shared behind the scenes are made once, whoever comes first.
TEST(Registry, EveryPolicyDecidesTheSameAloneAndBesideAnotherThread) {
  const CurveTable table = test::small_table(30, 9);
  for (const PolicyInfo& info : policies()) {
    const auto events = [&] {
      const PolicySpec spec{.name = info.name};
      return simulate(table, spec, *make_policy(spec), {.budget = 70.0, .seed = 4}).events;
    };
    std::future<std::vector<StoredEvent>> other = std::async(std::launch::async, events);
    const std::vector<StoredEvent> beside = events();
    EXPECT_EQ(other.get(), beside) << info.name;
    EXPECT_EQ(events(), beside) << info.name;
  }
}

}  // namespace
}  // namespace bapi
