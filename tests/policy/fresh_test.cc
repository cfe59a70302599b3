#include "bapi/policy/fresh.h"

#include <gtest/gtest.h>

namespace bapi {
namespace {

StudySpec study_over(Space space) {
  StudySpec spec{.name = "small"};
  spec.budget = {.limit = 100.0, .meter = Meter::epochs};
  spec.epochs = {.min = 1, .max = 4};
  spec.space = std::move(space);
  return spec;
}

Space grid(std::int64_t width, std::int64_t height) {
  return Space({{.name = "a", .domain = IntRange{.low = 1, .high = width}},
                {.name = "b", .domain = IntRange{.low = 1, .high = height}}});
}

void try_out(History& history, const Config& config) {
  history.apply(TrialStarted{.trial = TrialId{std::ssize(history.trials())}, .config = config, .until = 1});
}

TEST(FreshConfig, OfASmallSpaceIsEachConfigurationOnceAndThenNone) {
  History history(study_over(grid(4, 3)));
  for (int i = 0; i < 12; ++i) {
    const std::optional<Config> config = fresh_config(history);
    ASSERT_TRUE(config.has_value());
    EXPECT_FALSE(is_tried(history, *config));
    try_out(history, *config);
  }
  EXPECT_FALSE(fresh_config(history).has_value());
}

// Twice as many as the smallest space that is not listed: the last one must be looked up, since draws would miss it.
TEST(FreshConfig, FindsTheLastOneOfASpaceTooLargeToList) {
  History history(study_over(grid(50, 42)));
  const std::vector<Config> all = *history.spec().space.all(2100);
  EXPECT_FALSE(untried_in_small_space(history).has_value());
  for (std::size_t i = 0; i + 1 < all.size(); ++i) try_out(history, all[i]);
  EXPECT_EQ(fresh_config(history), all.back());
  try_out(history, all.back());
  EXPECT_FALSE(fresh_config(history).has_value());
}

TEST(FreshConfig, DependsOnTheSeedAndTheNumberOfTrialsAloneWhereNothingRepeats) {
  StudySpec spec = study_over(Space({{.name = "x", .domain = RealRange{}}}));
  History one(spec);
  History other(spec);
  try_out(one, {{0.25}});
  try_out(other, {{0.75}});
  EXPECT_EQ(fresh_config(one), fresh_config(other));
}

TEST(UntriedInSmallSpace, LeavesOutWhatWasTried) {
  History history(study_over(grid(2, 2)));
  try_out(history, {{std::int64_t{1}, std::int64_t{2}}});
  const std::optional<std::vector<Config>> untried = untried_in_small_space(history);
  ASSERT_TRUE(untried.has_value());
  EXPECT_EQ(untried->size(), 3U);
  for (const Config& config : *untried) EXPECT_FALSE(is_tried(history, config));
}

}  // namespace
}  // namespace bapi
