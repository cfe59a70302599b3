#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>

#include "bapi/control/session.h"
#include "bapi/policy/calibration.h"
#include "bapi/policy/registry.h"
#include "bapi/store/sqlite_store.h"
#include "bapi/study/progress.h"

// Studies that bapi 0.1 wrote, each cut off in the middle: tests/data/study-0.1-POLICY.db.
namespace bapi {
namespace {

class OldStudy : public testing::TestWithParam<std::string> {
 protected:
  OldStudy() {
    const std::string name = "study-0.1-" + GetParam() + ".db";
    file_ = std::filesystem::temp_directory_path() / (std::to_string(getpid()) + name);
    std::filesystem::copy_file(
        std::string(BAPI_SOURCE_DIR) + "/tests/data/" + name, file_, std::filesystem::copy_options::overwrite_existing);
    const SqliteStore store = SqliteStore::open(file_, Access::read_write);
    spec_ = store.spec();
    events_ = store.events(0);
  }
  ~OldStudy() override {
    for (const char* suffix : {"", "-wal", "-shm"}) std::filesystem::remove(file_.string() + suffix);
  }

  std::filesystem::path file_;
  StudySpec spec_;
  std::vector<StoredEvent> events_;
};

class OldBrackets : public OldStudy {};
class OldForecasts : public OldStudy {};

// What does not depend on the last bits of a model.
void expect_same(const Decision& asked, const Event& recorded) {
  if (const auto* started = std::get_if<TrialStarted>(&recorded)) {
    const auto* start = std::get_if<Start>(&asked);
    ASSERT_NE(start, nullptr);
    EXPECT_EQ(start->until, started->why.shortened_from.value_or(started->until));
    EXPECT_EQ(start->assignment, started->assignment);
    EXPECT_EQ(start->why, started->why);
  } else if (const auto* resumed = std::get_if<TrialResumed>(&recorded)) {
    const auto* resume = std::get_if<Resume>(&asked);
    ASSERT_NE(resume, nullptr);
    EXPECT_EQ(resume->trial, resumed->trial);
    EXPECT_EQ(resume->until, resumed->why.shortened_from.value_or(resumed->until));
    EXPECT_EQ(resume->why, resumed->why);
  } else if (const auto* stopped = std::get_if<TrialStopped>(&recorded)) {
    const auto* stop = std::get_if<Stop>(&asked);
    ASSERT_NE(stop, nullptr);
    EXPECT_EQ(stop->trial, stopped->trial);
    EXPECT_EQ(stop->why.rule, stopped->why.rule);
  }
}

TEST_P(OldBrackets, AreContinuedWithTheSameDecisions) {
  History history(spec_);
  for (const StoredEvent& stored : events_) {
    if (is_decision(stored.event)) {
      SCOPED_TRACE(stored.seq);
      Rng rng = decision_stream(history);
      expect_same(make_policy(spec_.policy)->ask(history, rng), stored.event);
      if (HasFailure()) return;
    }
    history.apply(stored.event);
  }
  EXPECT_GT(history.decisions(), 50);
}

TEST_P(OldForecasts, AreCalibratedAndAssignmentsRemembered) {
  EXPECT_TRUE(has_forecasts(events_));
  EXPECT_GT(calibration(replay(spec_, events_), events_).value.count, 5);
  History history(spec_);
  for (const StoredEvent& stored : events_) history.apply(stored.event);
  for (const Trial& trial : history.trials()) {
    const bool initial = trial.why.rule == Rule::initial_design;
    EXPECT_EQ(trial.assignment.initial_run.has_value(), initial);
    EXPECT_EQ(trial.assignment.schedule.has_value(), !initial && GetParam() == "bms-ei");
    EXPECT_EQ(trial.why.forecast.has_value(), !initial);
    EXPECT_TRUE(trial.why.notes.empty());  // every number has found its field
  }
}

std::string test_name(const testing::TestParamInfo<std::string>& each) {
  std::string name = each.param;
  for (char& letter : name) letter = letter == '-' ? '_' : letter;
  return name;
}

INSTANTIATE_TEST_SUITE_P(Policies, OldBrackets, testing::Values("hyperband", "bohb"), test_name);
INSTANTIATE_TEST_SUITE_P(Policies, OldForecasts, testing::Values("bms-ei", "bapi-4"), test_name);

}  // namespace
}  // namespace bapi
