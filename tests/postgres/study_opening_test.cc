#include "bapi/studies/study_opening.h"

#include <gtest/gtest.h>

#include "bapi/base/error.h"
#include "bapi/studies/study_view.h"
#include "tests/support/postgres_server.h"

namespace bapi {
namespace study_opening_test {

using test::PostgresServer;

class StudyOpenedInDatabase : public ::testing::Test {
 protected:
  void SetUp() override {
    BAPI_NEEDS_POSTGRES();
    place_.emplace(DatabaseStudy{.database = PostgresServer::instance().new_database(), .name = "small"});
  }

  static StudySpec small(Cost budget, double high = 1.0) {
    return {.name = "small",
            .command = {"true"},
            .metric = {.name = "loss", .goal = Goal::minimize},
            .budget = {.limit = budget, .unit = "epochs", .meter = Meter::epochs},
            .epochs = {.min = 1, .max = 9},
            .space = Space({{.name = "lr", .domain = RealRange{.low = 0.0, .high = high}}})};
  }

  OpenedStudy open(const StudySpec& spec) {
    return open_or_create_study(*place_, spec, [&](const std::string& line) { told_.push_back(line); });
  }

  static void report(OpenedStudy& study) {
    const auto last = static_cast<EventSeq>(study.events.size());
    ASSERT_TRUE(study.store().append_decision(
        last,
        TrialStarted{.trial = TrialId{0}, .config = {{0.5}}, .until = 3, .why = {.rule = Rule::uniform_draw}},
        1e9));
    const std::vector<Event> facts{
        Measured{.trial = TrialId{0}, .measurement = {.epoch = 1, .value = 0.5, .cost = 1.0}}};
    ASSERT_TRUE(study.store().append(last + 1, facts, 1e9, Durability::process));
  }

  std::optional<StudyPlace> place_;
  std::vector<std::string> told_;
};

TEST_F(StudyOpenedInDatabase, IsMadeWithItsTablesAndFoundAgain) {
  EXPECT_FALSE(place_->exists());
  {
    OpenedStudy made = open(small(12));
    EXPECT_EQ(told_.size(), 1u);
    EXPECT_TRUE(place_->exists());
    report(made);
  }
  const OpenedStudy again = open(small(12));
  EXPECT_EQ(again.events.size(), 2u);
  EXPECT_EQ(again.history.trials().size(), 1u);
}

TEST_F(StudyOpenedInDatabase, IsInOneHandAtATime) {
  const OpenedStudy held = open(small(12));
  EXPECT_THROW(open(small(12)), StoreError);
}

TEST_F(StudyOpenedInDatabase, TakesOverWhatMayChangeAndRefusesTheRest) {
  {
    OpenedStudy made = open(small(12));
    report(made);
  }
  {
    const OpenedStudy larger = open(small(20));
    EXPECT_EQ(larger.history.budget().total(), 20.0);
  }
  EXPECT_EQ(open_study(place_->shown()).history.budget().total(), 20.0);
  EXPECT_THROW(open(small(20, 2.0)), InvalidInput);
}

TEST_F(StudyOpenedInDatabase, WithoutAReportStartsOverWithNewSettings) {
  {
    OpenedStudy made = open(small(12));
    ASSERT_TRUE(made.store().append(0, std::vector<Event>{BudgetChanged{.total = 12.0}}, 1e9, Durability::process));
  }
  const OpenedStudy changed = open(small(12, 2.0));
  EXPECT_TRUE(changed.events.empty());
  EXPECT_TRUE(changed.store().events(0).empty());
  EXPECT_EQ(changed.store().spec().space, small(12, 2.0).space);
}

}  // namespace study_opening_test
}  // namespace bapi
