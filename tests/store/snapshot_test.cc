#include "bapi/store/snapshot.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <fstream>
#include <sstream>
#include <thread>

#include "tests/support/temp_dir.h"

namespace bapi {
namespace {

namespace fs = std::filesystem;
using test::TempDir;

std::string text_of(const fs::path& file) {
  std::ostringstream text;
  text << std::ifstream(file).rdbuf();
  return text.str();
}

class Snapshots : public ::testing::Test {
 protected:
  Snapshots() { fs::create_directories(trial.checkpoint()); }

  void save(Epoch epoch) const { std::ofstream(trial.checkpoint() / "model") << "epoch " << epoch; }

  SnapshotResult take(Epoch epoch, Sync sync = Sync::no) const {
    return take_snapshot({.dir = trial, .label = {.epoch = epoch, .value = 0.1 * epoch}, .sync = sync});
  }

  std::vector<std::string> kept() const {
    std::vector<std::string> names;
    for (const auto& entry : fs::directory_iterator(trial.best())) names.push_back(entry.path().filename().string());
    std::sort(names.begin(), names.end());
    return names;
  }

  const TempDir temp;
  const TrialDir trial{temp / "0007"};
};

TEST_F(Snapshots, HoldTheFilesAndTheirEpoch) {
  save(24);
  ASSERT_TRUE(take(24).taken);
  save(50);
  const auto newest = newest_snapshot(trial);
  ASSERT_TRUE(newest);
  EXPECT_EQ(newest->label, (SnapshotLabel{.epoch = 24, .value = 0.1 * 24}));
  EXPECT_EQ(text_of(newest->files / "model"), "epoch 24");
  EXPECT_EQ(newest->files, trial.best() / "epoch-24" / "checkpoint");
}

TEST_F(Snapshots, NothingIsReadWrittenOrRemovedThroughALink) {
  const TrialDir other{temp / "mine"};
  fs::create_directories(other.checkpoint());
  std::ofstream(other.checkpoint() / "model") << "mine";
  ASSERT_TRUE(take_snapshot({.dir = other, .label = {.epoch = 1, .value = 0.5}}).taken);
  fs::create_directory_symlink(other.best(), trial.best());
  save(2);
  EXPECT_NE(take(2).failure.find("symbolic link"), std::string::npos);
  note_missed(trial, {.epoch = 2, .reason = "why"});
  settle_snapshots(trial);
  EXPECT_FALSE(newest_snapshot(trial));
  EXPECT_EQ(kept(), std::vector<std::string>{"epoch-1"});
  EXPECT_EQ(text_of(other.best() / "epoch-1" / "checkpoint" / "model"), "mine");
}

TEST_F(Snapshots, TheEarlierOnesAreRemoved) {
  for (const Epoch epoch : {1, 2, 5}) {
    save(epoch);
    ASSERT_TRUE(take(epoch, Sync::yes).taken);
  }
  EXPECT_EQ(kept(), std::vector<std::string>{"epoch-5"});
}

TEST_F(Snapshots, OneThatIsOnTheDiskStaysUntilANewerOneIs) {
  save(1);
  ASSERT_TRUE(take(1, Sync::yes).taken);
  for (const Epoch epoch : {2, 3}) {
    save(epoch);
    ASSERT_TRUE(take(epoch).taken);
  }
  EXPECT_EQ(kept(), (std::vector<std::string>{"epoch-1", "epoch-3"}));
  settle_snapshots(trial);
  EXPECT_EQ(kept(), std::vector<std::string>{"epoch-3"});
  EXPECT_TRUE(newest_snapshot(trial)->synced);
}

TEST_F(Snapshots, OneThatAPowerCutHasTornIsPassedOver) {
  save(1);
  ASSERT_TRUE(take(1, Sync::yes).taken);
  save(2);
  ASSERT_TRUE(take(2).taken);
  fs::resize_file(trial.best() / "epoch-2" / "checkpoint" / "model", 0);
  EXPECT_EQ(newest_snapshot(trial)->label.epoch, 1);
  fs::remove(trial.best() / "epoch-1" / "about");
  EXPECT_FALSE(newest_snapshot(trial));
}

TEST_F(Snapshots, AnEmptyCheckpointDirectoryIsNoModel) {
  const SnapshotResult result = take(1);
  EXPECT_FALSE(result.taken);
  EXPECT_NE(result.failure, "");
  EXPECT_FALSE(newest_snapshot(trial));
}

TEST_F(Snapshots, WhatWasWrittenAfterTheReportIsNotTheModelOfItsEpoch) {
  save(25);
  const SnapshotResult result = take_snapshot({.dir = trial, .label = {.epoch = 24}, .written_by = 1.0});
  EXPECT_FALSE(result.taken);
  EXPECT_NE(result.failure.find("saved again"), std::string::npos);
}

// A program that saves two files one after the other: at every instant, the first is of the same epoch as the second or
// of the next one. A copy that began before a save and ended after it would have them the other way round.
TEST_F(Snapshots, FilesThatChangeWhileTheyAreCopiedAreCopiedAgainOrRefused) {
  const auto replace = [&](const char* name, Epoch epoch) {
    std::ofstream(trial.checkpoint() / "new") << epoch;
    fs::rename(trial.checkpoint() / "new", trial.checkpoint() / name);
  };
  replace("a", 0);
  replace("b", 0);
  std::atomic<bool> done = false;
  std::thread program([&] {
    for (Epoch epoch = 1; !done.load(); ++epoch) {
      replace("a", epoch);
      replace("b", epoch);
    }
  });
  for (int i = 0; i < 300; ++i) {
    const SnapshotResult result = take(i + 1);
    if (!result.taken) continue;
    const int ahead = std::stoi(text_of(result.taken->files / "a")) - std::stoi(text_of(result.taken->files / "b"));
    EXPECT_TRUE(ahead == 0 || ahead == 1) << ahead;
  }
  done = true;
  program.join();
}

TEST_F(Snapshots, FailureLeavesTheEarlierOne) {
  save(1);
  ASSERT_TRUE(take(1).taken);
  std::ofstream(trial.checkpoint() / "model") << std::string(1 << 20, 'm');
  const pid_t child = ::fork();
  if (child == 0) {
    ::signal(SIGXFSZ, SIG_IGN);
    const rlimit limit = {.rlim_cur = 1 << 16, .rlim_max = 1 << 16};  // as on a full disk
    ::setrlimit(RLIMIT_FSIZE, &limit);
    const SnapshotResult result = take(2);
    ::_exit(!result.taken && !result.failure.empty() ? 0 : 1);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
  EXPECT_EQ(newest_snapshot(trial)->label.epoch, 1);
  EXPECT_EQ(kept(), std::vector<std::string>{"epoch-1"});
}

// Killed at whatever instant, its maker leaves a complete snapshot whose content is of the epoch that it says.
TEST_F(Snapshots, WhoeverIsKilledLeavesACompleteOne) {
  save(1);
  ASSERT_TRUE(take(1).taken);
  Epoch first = 2;
  for (int round = 0; round < 60; ++round) {
    const pid_t child = ::fork();
    if (child == 0) {
      for (Epoch epoch = first;; ++epoch) {
        save(epoch);
        take(epoch, epoch % 3 == 0 ? Sync::yes : Sync::no);
      }
    }
    std::this_thread::sleep_for(std::chrono::microseconds(1000 + 137 * round));
    ::kill(child, SIGKILL);
    ::waitpid(child, nullptr, 0);
    const auto newest = newest_snapshot(trial);
    ASSERT_TRUE(newest) << "round " << round;
    EXPECT_EQ(text_of(newest->files / "model"), "epoch " + std::to_string(newest->label.epoch));
    first = newest->label.epoch + 1;
  }
  save(first);
  ASSERT_TRUE(take(first, Sync::yes).taken);
  EXPECT_EQ(kept(), std::vector<std::string>{"epoch-" + std::to_string(first)});
}

TEST_F(Snapshots, RestoringPutsTheFilesInThePlaceOfTheCheckpoint) {
  save(24);
  ASSERT_TRUE(take(24).taken);
  save(30);
  std::ofstream(trial.checkpoint() / "half-written") << "x";
  EXPECT_EQ(restore_snapshot(trial, *newest_snapshot(trial)), "");
  EXPECT_EQ(text_of(trial.checkpoint() / "model"), "epoch 24");
  EXPECT_FALSE(fs::exists(trial.checkpoint() / "half-written"));
  EXPECT_TRUE(newest_snapshot(trial));
}

TEST_F(Snapshots, ATrialWithoutItsCheckpointContinuesAfterItsSnapshotOrFromTheBeginning) {
  save(24);
  EXPECT_EQ(continue_after(trial, 30), 30);
  ASSERT_TRUE(take(24).taken);
  set_checkpoint_epoch(trial, 0);
  fs::remove_all(trial.checkpoint());
  EXPECT_EQ(continue_after(trial, 30), 24);
  EXPECT_EQ(text_of(trial.checkpoint() / "model"), "epoch 24");
  EXPECT_EQ(continue_after(trial, 30), 24);  // until it has trained on
  forget_checkpoint_epoch(trial);
  EXPECT_EQ(continue_after(trial, 31), 31);
  set_checkpoint_epoch(trial, 0);
  fs::remove_all(trial.best());
  EXPECT_EQ(continue_after(trial, 30), 0);
}

TEST_F(Snapshots, WhyAModelWasMissedStaysKnown) {
  note_missed(trial, {.epoch = 24, .reason = "the disk\nis full"});
  ASSERT_TRUE(missed_snapshot(trial));
  EXPECT_EQ(missed_snapshot(trial)->epoch, 24);
  EXPECT_EQ(missed_snapshot(trial)->reason, "the disk is full");
  save(25);
  ASSERT_TRUE(take(25).taken);
  settle_snapshots(trial);
  ASSERT_TRUE(missed_snapshot(trial));
  EXPECT_EQ(missed_snapshot(trial)->epoch, 24);  // it may still be the best one
}

TEST_F(Snapshots, TheSaverKeepsTheModelOfTheBestEpoch) {
  BestModelSaver saver(trial, Metric{.goal = Goal::minimize});
  const std::vector<double> losses = {0.9, 0.5, 0.2, 0.4, 0.3};
  for (Epoch epoch = 1; epoch <= 5; ++epoch) {
    save(epoch);
    saver.reported(epoch, losses.at(static_cast<std::size_t>(epoch) - 1));
  }
  EXPECT_EQ(newest_snapshot(trial)->label, (SnapshotLabel{.epoch = 3, .value = 0.2}));
  EXPECT_EQ(text_of(newest_snapshot(trial)->files / "model"), "epoch 3");
}

TEST_F(Snapshots, TheSaverDoesNotTakeAnOlderModelForThatOfTheEpoch) {
  BestModelSaver saver(trial, Metric{});
  save(1);
  saver.reported(1, 0.1);
  saver.reported(2, 0.2);  // saved every second epoch
  EXPECT_EQ(newest_snapshot(trial)->label.epoch, 1);
  EXPECT_EQ(missed_snapshot(trial)->epoch, 2);
  save(3);
  saver.reported(3, 0.15);
  EXPECT_EQ(newest_snapshot(trial)->label.epoch, 3);
}

}  // namespace
}  // namespace bapi
