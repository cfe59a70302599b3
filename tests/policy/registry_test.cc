#include "bapi/policy/registry.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <future>
#include <stdexcept>

#include "bapi/base/error.h"
#include "bapi/policy/bapi_options.h"
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

Value as_value(const std::string& text) {
  std::size_t used = 0;
  try {
    const double number = std::stod(text, &used);
    if (used == text.size()) {
      const auto whole = static_cast<std::int64_t>(number);
      return static_cast<double>(whole) == number ? Value(whole) : Value(number);
    }
  } catch (const std::invalid_argument&) {
  }
  return text;
}

TEST(Registry, ThePrintedDefaultsAreTheDefaults) {
  const CurveTable table = test::small_table(20, 9);
  for (const PolicyInfo& info : policies()) {
    const auto events = [&](const std::map<std::string, Value>& options) {
      const std::unique_ptr<Policy> policy = make_policy({.name = info.name, .options = options});
      return simulate(table, {.name = info.name}, *policy, {.budget = 60.0, .seed = 4}).events;
    };
    std::map<std::string, Value> printed;
    for (const PolicyOptionInfo& option : info.options) printed[option.name] = as_value(option.default_value);
    EXPECT_EQ(events(printed), events({})) << info.name;
  }
}

// Studies of version 0.1 may hold options of the other loop, and choose between the two.
TEST(Registry, TakesTheOptionsOfVersion01ForBothLoops) {
  for (const char* name : {"bapi", "bapi-4"}) {
    const std::map<std::string, Value> old = {{"p", 0.3},
                                              {"kappa", 3.0},
                                              {"rung_ratio", 3.0},
                                              {"target", std::string("incumbent")},
                                              {"reached", std::string("noisy")}};
    EXPECT_NO_THROW(make_policy({.name = name, .options = old}));
    for (const char* loop : {"rungs", "plan"}) {
      EXPECT_NO_THROW(make_policy({.name = name, .options = {{"loop", std::string(loop)}}}));
    }
  }
}

TEST(Registry, ShowsOnlyTheOptionsThatAPolicyUses) {
  for (const PolicyInfo& info : policies()) {
    const auto shows = [&](const std::string& name) {
      return std::any_of(info.options.begin(), info.options.end(), [&](const auto& each) { return each.name == name; });
    };
    if (info.name == "bapi") {
      EXPECT_TRUE(shows("rung_ratio"));
      EXPECT_FALSE(shows("kappa"));
    }
    if (info.name == "bapi-4") {
      EXPECT_TRUE(shows("kappa"));
      EXPECT_FALSE(shows("rung_ratio"));
    }
    EXPECT_FALSE(shows("loop"));
  }
}

TEST(Registry, TakesEverySurrogateByItsNameAndShowsTheOptionOnceThereIsAChoice) {
  const auto options = [](std::string_view surrogate) {
    return bapi_options({.name = "bapi", .options = {{"surrogate", std::string(surrogate)}}});
  };
  for (const CurveSurrogateKind& kind : curve_surrogates()) {
    EXPECT_EQ(options(kind.name).model.curves.surrogate, kind.name);
  }
  EXPECT_THROW(options("forest"), InvalidInput);
  const std::vector<PolicyOptionInfo> shown = bapi_info("bapi").options;
  const bool is_shown = std::ranges::any_of(shown, [](const auto& option) { return option.name == "surrogate"; });
  EXPECT_EQ(is_shown, curve_surrogates().size() > 1);
}

}  // namespace
}  // namespace bapi
