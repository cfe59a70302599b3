#include "bapi/policy/rivals/full_runs.h"

#include <gtest/gtest.h>

#include "bapi/tables/simulate.h"
#include "tests/support/finished_runs.h"
#include "tests/support/tables.h"

namespace bapi {
namespace {

TEST(NearestUntried, OfAPoolAreItsNearestRowThatWasNotTried) {
  const CurveTable table = test::small_table(11, 3);
  const History history = test::finished_runs(table, {}, {5, 6});
  const NearestUntried rows(history);
  EXPECT_EQ(rows.nearest(Vector::Constant(1, 0.22))->config, table.configs[2]);
  EXPECT_EQ(rows.nearest(Vector::Constant(1, 0.52))->config, table.configs[4]);
  EXPECT_EQ(rows.nearest(Vector::Constant(1, 0.58))->config, table.configs[7]);
}

TEST(NearestUntried, OfAnExhaustedPoolThereAreNone) {
  const CurveTable table = test::small_table(3, 3);
  EXPECT_FALSE(NearestUntried(test::finished_runs(table, {}, {0, 1, 2})).nearest(Vector::Constant(1, 0.5)));
}

TEST(NearestUntried, WithoutAPoolAreTheNearestValidOnesThatWereNotTried) {
  StudySpec spec = study_of(test::small_table(3, 3), 100.0, {}, 1, 1);
  spec.pool.clear();
  spec.space = Space({{.name = "layers", .domain = IntRange{.low = 1, .high = 4}}});
  History history(spec);
  history.apply(TrialStarted{.trial = TrialId{0}, .config = {{std::int64_t{2}}}, .until = 3});
  const NearestUntried any(history);
  EXPECT_FALSE(any.nearest(spec.space.encode({{std::int64_t{2}}})));
  EXPECT_EQ(any.nearest(Vector::Constant(1, 0.99))->config, (Config{{std::int64_t{4}}}));
}

TEST(BeforeModel, FinishesWhatWasCutShortBeforeAnythingElse) {
  const CurveTable table = test::small_table(11, 3);
  History history = test::finished_runs(table, {}, {5, 6, 7});
  const InitialDesign design{.epochs = 1.0};
  EXPECT_FALSE(before_model(history, design));
  history.apply(TrialStarted{.trial = TrialId{3}, .config = table.configs[0], .until = 1});
  history.apply(Measured{TrialId{3}, {1, 0.5, 1.0}});
  history.apply(SegmentDone{TrialId{3}});
  const std::optional<Decision> decision = before_model(history, design);
  ASSERT_TRUE(decision);
  EXPECT_EQ(std::get<Resume>(*decision).trial, TrialId{3});
  EXPECT_EQ(std::get<Resume>(*decision).until, 3);
}

TEST(BeforeModel, KeepsToTheDesignUntilARunHasFinished) {
  const CurveTable table = test::small_table(11, 3);
  History history(study_of(table, 100.0, {}, 1, 1));
  for (int i = 0; i < 4; ++i) {
    const std::optional<Decision> decision = before_model(history, {.epochs = 1.0});
    ASSERT_TRUE(decision) << i;
    const TrialId id{std::ssize(history.trials())};
    history.apply(TrialStarted{.trial = id, .config = std::get<Start>(*decision).config, .until = 3});
    history.apply(TrialFailed{.trial = id, .message = "diverged"});
  }
}

}  // namespace
}  // namespace bapi
