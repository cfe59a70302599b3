// A power cut leaves on disk what was synced, and of everything written since any sectors it likes. This program's own
// fsync and fdatasync take the place of the system's for SQLite as well, and note what each file held when it was
// synced.

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <vector>

#include "bapi/base/rng.h"
#include "bapi/store/sqlite_store.h"
#include "tests/store/sample_study.h"
#include "tests/support/temp_dir.h"

namespace {

std::string read_file(const std::filesystem::path& file) {
  std::ifstream input(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(input), {}};
}

std::map<std::string, std::string>& synced() {
  static std::map<std::string, std::string> contents;
  return contents;
}

bool watching = false;

void note_sync(int fd) {
  if (!watching) return;
  const std::filesystem::path file = std::filesystem::read_symlink("/proc/self/fd/" + std::to_string(fd));
  if (std::filesystem::is_regular_file(file)) synced()[file.filename()] = read_file(file);
}

}  // namespace

extern "C" int fsync(int fd) {
  note_sync(fd);
  return static_cast<int>(::syscall(SYS_fsync, fd));
}

extern "C" int fdatasync(int fd) {
  note_sync(fd);
  return static_cast<int>(::syscall(SYS_fdatasync, fd));
}

namespace bapi {
namespace {

using test::TempDir;
using testing_support::sample_spec;

constexpr double kNow = 1.75e9;

Event started(int trial) {
  return TrialStarted{.trial = TrialId{trial}, .until = 3, .why = {.rule = Rule::uniform_draw}};
}

std::vector<Event> batch(int trial, int size) {
  std::vector<Event> facts;
  for (int i = 1; i <= size; ++i) {
    facts.emplace_back(Measured{.trial = TrialId{trial}, .measurement = {.epoch = i, .value = 0.5, .cost = 1.0}});
  }
  return facts;
}

class PowerCut : public testing::Test {
 protected:
  PowerCut() {
    synced().clear();
    watching = true;
  }
  ~PowerCut() override { watching = false; }

  std::filesystem::path file() const { return directory_ / "study.db"; }

  // The events that a study would have if the power went now: synced contents, with sectors written since where
  // `luck` says so.
  std::size_t events_after_cut(Rng& rng, double luck) const {
    watching = false;
    const TempDir after;
    for (const std::string name : {"study.db", "study.db-wal"}) {
      std::string content = synced()[name];
      const std::string written = read_file(directory_ / name);
      constexpr std::size_t kSector = 512;
      for (std::size_t at = 0; at < written.size(); at += kSector) {
        if (rng.uniform() >= luck) continue;
        const std::string sector = written.substr(at, kSector);
        if (content.size() < at + sector.size()) content.resize(at + sector.size());
        content.replace(at, sector.size(), sector);
      }
      if (!content.empty()) std::ofstream(after / name, std::ios::binary) << content;
    }
    const std::size_t count = SqliteStore::open(after / "study.db", Access::read_write).events(0).size();
    watching = true;
    return count;
  }

 private:
  TempDir directory_;
};

TEST_F(PowerCut, ANewStudyIsSafe) {
  const SqliteStore store = SqliteStore::create(file(), sample_spec());
  // The draft was synced under another name before it was renamed.
  std::string image;
  for (const auto& [name, content] : synced()) {
    if (name.starts_with("study.db.new.")) image = content;
  }
  EXPECT_EQ(image, read_file(file()));
}

TEST_F(PowerCut, ADecisionIsSafeWithEveryFactBeforeIt) {
  SqliteStore store = SqliteStore::create(file(), sample_spec());
  synced()["study.db"] = read_file(file());
  Rng rng(3);
  std::size_t written = 0;
  for (int round = 0; round < 12; ++round) {
    EXPECT_TRUE(store.append(41 * round, batch(round, 40), kNow, Durability::process));
    EXPECT_TRUE(store.append_decision(41 * round + 40, started(round), kNow));
    written += 41;
    EXPECT_EQ(events_after_cut(rng, 0.0), written);
    EXPECT_EQ(events_after_cut(rng, 0.5), written);
  }
}

TEST_F(PowerCut, FactsAreSafeWhenAskedFor) {
  SqliteStore store = SqliteStore::create(file(), sample_spec());
  synced()["study.db"] = read_file(file());
  Rng rng(4);
  EXPECT_TRUE(store.append(0, batch(0, 5), kNow, Durability::process));
  EXPECT_TRUE(store.append(5, batch(0, 5), kNow, Durability::power));
  EXPECT_EQ(events_after_cut(rng, 0.0), 10u);
}

TEST_F(PowerCut, FactsSinceTheLastDecisionAreLostWholeOrKeptWhole) {
  constexpr std::size_t kBatch = 3;
  SqliteStore store = SqliteStore::create(file(), sample_spec());
  synced()["study.db"] = read_file(file());
  EXPECT_TRUE(store.append_decision(0, started(0), kNow));
  Rng rng(5);
  std::size_t lost = 0;
  // Enough to be moved from the log into the database, and the log to be written from its start again, several times.
  for (int round = 1; round <= 2500; ++round) {
    const EventSeq last = 1 + static_cast<EventSeq>(kBatch) * (round - 1);
    ASSERT_TRUE(store.append(last, batch(round, kBatch), kNow, Durability::process));
    if (round % 250 != 0) continue;
    const std::size_t written = 1 + kBatch * static_cast<std::size_t>(round);
    for (const double luck : {0.0, 0.5, 0.95}) {
      const std::size_t kept = events_after_cut(rng, luck);
      EXPECT_EQ((kept - 1) % kBatch, 0u);
      EXPECT_GE(kept, 1u);
      EXPECT_LE(kept, written);
      lost += written - kept;
    }
    EXPECT_EQ(events_after_cut(rng, 1.0), written);
  }
  EXPECT_GT(lost, 0u) << "nothing was at stake: the cut is not simulated";
}

}  // namespace
}  // namespace bapi
