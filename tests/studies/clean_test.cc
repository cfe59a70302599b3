#include "bapi/studies/clean.h"

#include <gtest/gtest.h>

#include <fstream>

#include "bapi/store/snapshot.h"
#include "tests/support/temp_dir.h"

namespace bapi {
namespace {

namespace fs = std::filesystem;
using test::TempDir;

StudySpec spec() {
  StudySpec spec;
  spec.name = "s";
  spec.metric = {.name = "loss", .goal = Goal::minimize};
  spec.budget = {.limit = 100.0, .unit = "epochs", .meter = Meter::epochs};
  spec.epochs = {.min = 1, .max = 3};
  return spec;
}

// Trials with a checkpoint and a snapshot each.
class Cleaning : public ::testing::Test {
 protected:
  // Ends with `end`; without, the trial is paused.
  void trial(double loss, const std::optional<Event>& end = {}) {
    const auto id = TrialId{std::ssize(history.trials())};
    history.apply(TrialStarted{.trial = id, .config = {{Value{0.5}}}, .until = 1});
    history.apply(Measured{.trial = id, .measurement = {.epoch = 1, .value = loss, .cost = 1.0}});
    history.apply(SegmentDone{.trial = id});
    if (end) history.apply(*end);
    const TrialDir place = dir.trial(id);
    fs::create_directories(place.checkpoint());
    std::ofstream(place.checkpoint() / "model") << loss;
    ASSERT_TRUE(take_snapshot({.dir = place, .label = {.epoch = 1, .value = loss}}).taken);
  }

  static Event stopped(int id) { return TrialStopped{.trial = TrialId{id}}; }

  std::vector<std::pair<std::int64_t, std::string>> rubbish(const KeptCheckpoints& keep) const {
    std::vector<std::pair<std::int64_t, std::string>> found;
    for (const Rubbish& item : rubbish_of(dir, history, keep)) {
      found.emplace_back(index(item.trial), std::string(word(item.kind)));
    }
    return found;
  }

  using Found = std::vector<std::pair<std::int64_t, std::string>>;

  const TempDir temp;
  const StudyDir dir{temp / "s.bapi"};
  History history{spec()};
};

TEST_F(Cleaning, KeepsEverythingUnlessItIsToldOtherwise) {
  trial(0.3, stopped(0));
  EXPECT_EQ(rubbish({}), Found{});
}

TEST_F(Cleaning, RemovesWhatLosersHaveSavedOnceTheyCanNoLongerBeResumed) {
  trial(0.3, stopped(0));
  trial(0.1, stopped(1));
  trial(0.2);  // paused
  trial(0.4);  // paused
  const Found losers = {{0, "checkpoint"}, {0, "snapshot"}};
  EXPECT_EQ(rubbish({.best = 1}), losers);
  history.apply(StudyFinished{.reason = "the budget is spent"});
  const Found all = {
      {0, "checkpoint"}, {0, "snapshot"}, {2, "checkpoint"}, {2, "snapshot"}, {3, "checkpoint"}, {3, "snapshot"}};
  EXPECT_EQ(rubbish({.best = 1}), all);
}

TEST_F(Cleaning, TheBestAreThoseWithTheBestValues) {
  trial(0.3, stopped(0));
  trial(0.1, stopped(1));
  trial(0.2, stopped(2));
  const Found losers = {{0, "checkpoint"}, {0, "snapshot"}};
  EXPECT_EQ(rubbish({.best = 2}), losers);
}

TEST_F(Cleaning, TheLastCheckpointOfTheBestGoesOnlyIfItsModelIsKept) {
  trial(0.1, stopped(0));
  trial(0.2, stopped(1));
  const Found last = {{0, "checkpoint"}, {1, "checkpoint"}};
  EXPECT_EQ(rubbish({.best = 2, .final = false}), last);
  fs::remove_all(dir.trial(TrialId{0}).best());
  EXPECT_EQ(rubbish({.best = 2, .final = false}), (Found{{1, "checkpoint"}}));
}

TEST_F(Cleaning, BusyTrialsAreLeftAlone) {
  trial(0.1, stopped(0));
  trial(0.2, stopped(1));
  EXPECT_TRUE(rubbish_of(dir, history, {.best = 1}, {TrialId{1}}).empty());
}

TEST_F(Cleaning, ATrialThatLostItsCheckpointBeginsAnew) {
  trial(0.1, stopped(0));
  trial(0.2, stopped(1));
  EXPECT_TRUE(remove_rubbish(dir, rubbish_of(dir, history, {.best = 1})).empty());
  EXPECT_EQ(rubbish({.best = 1}), Found{});
  EXPECT_EQ(continue_after(dir.trial(TrialId{0}), 1), 1);
  EXPECT_EQ(continue_after(dir.trial(TrialId{1}), 1), 0);
  EXPECT_GT(disk_use(dir, history).total(), 0);
}

TEST(ShortBytes, HasThreeDigitsAtMost) {
  EXPECT_EQ(short_bytes(0), "0 B");
  EXPECT_EQ(short_bytes(999), "999 B");
  EXPECT_EQ(short_bytes(4096), "4.1 kB");
  EXPECT_EQ(short_bytes(1'234'000'000), "1.2 GB");
  EXPECT_EQ(short_bytes(999'999'999), "1.0 GB");
}

}  // namespace
}  // namespace bapi
