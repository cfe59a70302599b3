#include "bapi/store/sqlite_store.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>
#include <functional>
#include <set>
#include <string>

#include "bapi/base/error.h"
#include "bapi/base/rng.h"
#include "bapi/store/sqlite_connection.h"
#include "bapi/store/study_lock.h"
#include "tests/store/sample_study.h"
#include "tests/support/temp_dir.h"

namespace bapi {
namespace sqlite_store_test {

using test::TempDir;
using testing_support::sample_events;
using testing_support::sample_spec;

constexpr double kNow = 1.75e9;

Event measured(int trial, Epoch epoch) {
  return Measured{.trial = TrialId{trial}, .measurement = {.epoch = epoch, .value = 0.5, .cost = 1.0}};
}

Event started(int trial) {
  return TrialStarted{.trial = TrialId{trial}, .until = 3, .why = {.rule = Rule::uniform_draw}};
}

std::vector<Event> batch(int trial, int size) {
  std::vector<Event> facts;
  for (int i = 1; i <= size; ++i) facts.push_back(measured(trial, i));
  return facts;
}

void append_sample(SqliteStore& store) {
  EventSeq last = 0;
  for (const Event& event : sample_events()) {
    if (is_decision(event)) {
      ASSERT_TRUE(store.append_decision(last++, event, kNow));
    } else {
      ASSERT_TRUE(store.append(last++, std::span(&event, 1), kNow, Durability::process));
    }
  }
}

TEST(SqliteStore, ALogThatIsALinkIsNotFollowed) {
  const TempDir scratch;
  const std::filesystem::path real = scratch.path() / "real.db";
  const std::filesystem::path link = scratch.path() / "link.db";
  { const SqliteStore store = SqliteStore::create(real, sample_spec()); }
  std::filesystem::create_symlink(real, link);
  for (const Access access : {Access::read_only, Access::read_write}) {
    EXPECT_THROW(SqliteStore::open(link, access), StoreError);
  }
  std::filesystem::remove(link);
  std::filesystem::create_symlink(scratch.path() / "nowhere.db", link);
  EXPECT_THROW(SqliteStore::create(link, sample_spec()), StoreError);
  EXPECT_FALSE(std::filesystem::exists(scratch.path() / "nowhere.db"));
}

EventSeq last_of(const Store& store) { return std::ssize(store.events(0)); }

void append_next(Store& store, const std::vector<Event>& facts, Durability durability = Durability::process) {
  EXPECT_TRUE(store.append(last_of(store), facts, kNow, durability));
}

std::vector<Event> contents(const SqliteStore& store) {
  std::vector<Event> contents;
  for (const StoredEvent& stored : store.events(0)) contents.push_back(stored.event);
  return contents;
}

std::string refusal(const std::filesystem::path& file, Access access = Access::read_write) {
  try {
    SqliteStore::open(file, access).events(0);
  } catch (const StoreError& error) {
    return error.what();
  }
  return "opened";
}

void write_text(const std::filesystem::path& file, const std::string& text) {
  std::ofstream(file, std::ios::binary) << text;
}

std::string read_text(const std::filesystem::path& file) {
  std::ifstream input(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(input), {}};
}

bool mentions(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

// Runs `body` in another process; exit code 0 unless it throws.
pid_t in_child(const std::function<void()>& body) {
  const pid_t child = ::fork();
  if (child != 0) return child;
  try {
    body();
  } catch (...) {
    ::_exit(1);
  }
  ::_exit(0);
}

int exit_code(pid_t child) {
  int status = 0;
  ::waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

TEST(SqliteStore, ANewStudyIsOneFile) {
  const TempDir directory;
  { const SqliteStore store = SqliteStore::create(directory / "study.db", sample_spec()); }
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(directory.path())) {
    names.push_back(entry.path().filename());
  }
  EXPECT_EQ(names, std::vector<std::string>{"study.db"});
}

TEST(SqliteStore, CreateRefusesAFileThatIsThere) {
  const TempDir directory;
  write_text(directory / "study.db", "mine");
  EXPECT_THROW(SqliteStore::create(directory / "study.db", sample_spec()), InvalidInput);
  EXPECT_EQ(read_text(directory / "study.db"), "mine");
}

TEST(SqliteStore, CreateWithoutADirectoryIsAStoreError) {
  const TempDir directory;
  EXPECT_THROW(SqliteStore::create(directory / "nowhere" / "study.db", sample_spec()), StoreError);
}

TEST(SqliteStore, TheLogOfADeletedStudyDoesNotHauntANewOne) {
  const TempDir directory;
  const std::filesystem::path file = directory / "study.db";
  ASSERT_EQ(exit_code(in_child([&] {
              SqliteStore store = SqliteStore::create(file, sample_spec());
              append_sample(store);
              ::_exit(0);  // without closing: the log stays beside the file
            })),
            0);
  ASSERT_TRUE(std::filesystem::exists(file.string() + "-wal"));
  std::filesystem::remove(file);
  const SqliteStore store = SqliteStore::create(file, {.name = "other"});
  EXPECT_EQ(store.spec().name, "other");
  EXPECT_TRUE(store.events(0).empty());
}

TEST(SqliteStore, PathsMayHoldAnyCharacter) {
  const TempDir directory;
  const std::filesystem::path file = directory / "a b?mode=ro#ü%41.db";
  {
    SqliteStore store = SqliteStore::create(file, sample_spec());
    append_sample(store);
  }
  ASSERT_TRUE(std::filesystem::exists(file));
  EXPECT_EQ(contents(SqliteStore::open(file, Access::read_only)), sample_events());
}

TEST(SqliteStore, OpenSaysWhyAFileIsNotAStudy) {
  const TempDir directory;
  const std::filesystem::path file = directory / "study.db";
  for (const Access access : {Access::read_only, Access::read_write}) {
    std::filesystem::remove(file);
    EXPECT_TRUE(mentions(refusal(file, access), "there is no study here"));
    EXPECT_FALSE(std::filesystem::exists(file));

    write_text(file, std::string(5000, 'x'));
    EXPECT_TRUE(mentions(refusal(file, access), "not an SQLite database")) << refusal(file, access);

    write_text(file, "");
    EXPECT_TRUE(mentions(refusal(file, access), "it is not a bapi study")) << refusal(file, access);
  }
  EXPECT_TRUE(mentions(refusal(directory.path()), directory.path().string())) << refusal(directory.path());
}

TEST(SqliteStore, OpenRefusesANewerSchemaAndLeavesItAlone) {
  const TempDir directory;
  const std::filesystem::path file = directory / "study.db";
  SqliteStore::create(file, sample_spec());
  Connection(file, OpenMode::read_write).execute("UPDATE meta SET schema_version = 2");
  for (const Access access : {Access::read_only, Access::read_write}) {
    EXPECT_TRUE(mentions(refusal(file, access), "written by a newer bapi (schema 2, this program knows up to 1)"));
  }
}

TEST(SqliteStore, OpenRefusesADamagedSpecification) {
  const TempDir directory;
  const std::filesystem::path file = directory / "study.db";
  SqliteStore::create(file, sample_spec());
  Connection(file, OpenMode::read_write).execute("UPDATE study SET spec_json = '{}'");
  EXPECT_EQ(refusal(file),
            file.string() + ": the specification is damaged: spec: found {}, expected a field \"version\"");
}

TEST(SqliteStore, AMissingEventIsNoticed) {
  const TempDir directory;
  const std::filesystem::path file = directory / "study.db";
  SqliteStore store = SqliteStore::create(file, sample_spec());
  append_sample(store);
  Connection(file, OpenMode::read_write).execute("DELETE FROM event WHERE seq = 5");
  EXPECT_TRUE(mentions(refusal(file), file.string() + ": event 5 is damaged: it is missing")) << refusal(file);
  EXPECT_EQ(store.events(5).size(), sample_events().size() - 5);
}

TEST(SqliteStore, AnEventThatCannotBeReadEndsTheLogThere) {
  const TempDir directory;
  const std::filesystem::path file = directory / "study.db";
  SqliteStore store = SqliteStore::create(file, sample_spec());
  append_sample(store);
  Connection(file, OpenMode::read_write).execute("UPDATE event SET payload = '{\"kind\": 7}' WHERE seq = 8");
  const EventLog log = store.read(0);
  EXPECT_EQ(log.events.size(), 7u);
  ASSERT_TRUE(log.damage);
  EXPECT_EQ(log.damage->seq, 8);
  EXPECT_EQ(log.damage->kind, "resumed");
  EXPECT_THROW(store.events(0), StoreError);
}

TEST(SqliteStore, AnEventOfANewerFormatIsNotDamage) {
  const TempDir directory;
  const std::filesystem::path file = directory / "study.db";
  SqliteStore store = SqliteStore::create(file, sample_spec());
  append_sample(store);
  Connection db(file, OpenMode::read_write);
  db.execute("UPDATE event SET payload = json_set(payload, '$.version', 99) WHERE seq = 8");
  EXPECT_TRUE(mentions(refusal(file), "event 8: it was written by a newer bapi (format 99")) << refusal(file);
  db.execute("UPDATE study SET spec_json = json_set(spec_json, '$.version', 99)");
  EXPECT_TRUE(mentions(refusal(file), "the specification: it was written by a newer bapi")) << refusal(file);
}

TEST(SqliteStore, NothingIsWrittenOnceTheLockIsGone) {
  const TempDir directory;
  SqliteStore store = SqliteStore::create(directory / "study.db", sample_spec());
  const StudyLock lock = StudyLock::take(directory.path());
  store.write_under(lock);
  append_next(store, batch(0, 1));
  std::filesystem::remove(directory / "lock");
  EXPECT_THROW(store.append(1, batch(0, 1), kNow, Durability::process), StoreError);
  const StudyLock thief = StudyLock::take(directory.path());
  EXPECT_THROW(store.append_decision(1, started(1), kNow), StoreError);
  EXPECT_EQ(last_of(store), 1);
}

TEST(SqliteStore, DamageNeverEndsInAnythingButAStoreError) {
  const TempDir directory;
  const std::filesystem::path file = directory / "study.db";
  {
    SqliteStore store = SqliteStore::create(file, sample_spec());
    append_sample(store);
    append_next(store, batch(3, 500));
  }
  const std::string whole = read_text(file);
  Rng rng(1);
  int refused = 0;
  for (int round = 0; round < 300; ++round) {
    std::string damaged = whole;
    for (int i = 1 + rng.below(20); i > 0; --i) {
      damaged[static_cast<std::size_t>(rng.below(static_cast<int>(damaged.size())))] =
          static_cast<char>(rng.below(256));
    }
    if (round % 3 == 0) damaged.resize(static_cast<std::size_t>(rng.below(static_cast<int>(damaged.size()))));
    write_text(file, damaged);
    if (refusal(file, Access::read_only) != "opened") ++refused;
  }
  EXPECT_GT(refused, 100);
}

TEST(SqliteStore, AReadOnlyStoreCannotBeWritten) {
  const TempDir directory;
  const std::filesystem::path file = directory / "study.db";
  SqliteStore::create(file, sample_spec());
  SqliteStore reader = SqliteStore::open(file, Access::read_only);
  EXPECT_THROW(reader.append(0, batch(0, 1), kNow, Durability::process), StoreError);
  EXPECT_THROW(reader.append_decision(0, started(0), kNow), StoreError);
  EXPECT_TRUE(reader.events(0).empty());
}

// The user without rights: root may write anywhere, so it lends its rights out for a while.
class WithoutRights {
 public:
  WithoutRights() : lent_(::geteuid() == 0 && ::seteuid(65534) == 0) {}
  ~WithoutRights() {
    if (lent_ && ::seteuid(0) != 0) ADD_FAILURE() << "the rights are gone for good";
  }

 private:
  bool lent_;
};

TEST(SqliteStore, AStudyInADirectoryThatCannotBeWrittenIsReadable) {
  const TempDir directory;
  const std::filesystem::path file = directory / "study.db";
  {
    SqliteStore store = SqliteStore::create(file, sample_spec());
    append_sample(store);
  }
  ::chmod(file.c_str(), 0444);
  ::chmod(directory.path().c_str(), 0555);
  {
    const WithoutRights poor;
    EXPECT_EQ(contents(SqliteStore::open(file, Access::read_only)), sample_events());
    const std::string message = refusal(file, Access::read_write);
    EXPECT_TRUE(mentions(message, "it cannot be written")) << message;
  }
  ::chmod(directory.path().c_str(), 0755);
}

TEST(SqliteStore, AChangedSpecificationIsKept) {
  const TempDir directory;
  const std::filesystem::path file = directory / "study.db";
  StudySpec spec = sample_spec();
  {
    SqliteStore store = SqliteStore::create(file, spec);
    append_sample(store);
    spec.workers = 5;
    spec.deadline = std::nullopt;
    store.update_spec(spec);
    EXPECT_EQ(store.spec(), spec);
  }
  const SqliteStore store = SqliteStore::open(file, Access::read_only);
  EXPECT_EQ(store.spec(), spec);
  EXPECT_EQ(contents(store), sample_events());
}

TEST(SqliteStore, ColumnsRepeatThePayload) {
  const TempDir directory;
  const std::filesystem::path file = directory / "study.db";
  SqliteStore store = SqliteStore::create(file, sample_spec());
  append_sample(store);
  Connection db(file, OpenMode::read_only);
  double spent = 0.0;
  for (const Event& event : sample_events()) {
    if (const auto* fact = std::get_if<Measured>(&event)) spent += fact->measurement.cost;
    if (const auto* fact = std::get_if<Overhead>(&event)) spent += fact->cost;
  }
  Statement sum(db, "SELECT sum(cost) FROM event");
  ASSERT_TRUE(sum.next());
  EXPECT_DOUBLE_EQ(sum.number(0), spent);
  sum.reset();
  EXPECT_EQ(db.query_text("SELECT group_concat(epoch) FROM event WHERE kind = 'measured'"), "1,2,1");
  EXPECT_EQ(db.query_text("SELECT group_concat(trial || ':' || epoch) FROM event WHERE kind IN ('started', 'resumed')"),
            "0:1,1:1,0:3,2:1");
  EXPECT_EQ(db.query_integer("SELECT value FROM event WHERE kind = 'budget_changed'"), 24);
  EXPECT_EQ(db.query_integer("SELECT count(*) FROM event WHERE payload IS NULL"), 6);
  EXPECT_EQ(db.query_integer("SELECT decisions FROM study"), 6);
  EXPECT_EQ(db.query_text("SELECT json_extract(payload, '$.of') FROM event WHERE seq = 2"), "start-up");
}

TEST(SqliteStore, AFileOfSchemaOneOpens) {
  const TempDir directory;
  const std::filesystem::path file = directory / "study.db";
  std::filesystem::copy_file(std::string(BAPI_SOURCE_DIR) + "/tests/data/study-schema-1.db", file);
  SqliteStore store = SqliteStore::open(file, Access::read_write);
  EXPECT_EQ(store.spec(), sample_spec());
  EXPECT_EQ(contents(store), sample_events());
  EXPECT_TRUE(store.append_decision(std::ssize(sample_events()), started(3), kNow));
}

TEST(SqliteStore, ReadersBesideAWriterSeeWholeBatches) {
  constexpr int kBatch = 7;
  constexpr int kBatches = 300;
  const TempDir directory;
  const std::filesystem::path file = directory / "study.db";
  SqliteStore::create(file, sample_spec());
  const pid_t writer = in_child([&] {
    SqliteStore store = SqliteStore::open(file, Access::read_write);
    for (int i = 0; i < kBatches; ++i) {
      check(store.append(i * kBatch, batch(i, kBatch), kNow, Durability::process), "another wrote");
    }
  });
  std::size_t seen = 0;
  while (seen < kBatch * kBatches && !testing::Test::HasFailure()) {
    const std::size_t now = SqliteStore::open(file, Access::read_only).events(0).size();
    EXPECT_EQ(now % kBatch, 0u);
    EXPECT_GE(now, seen);
    seen = now;
    if (::kill(writer, 0) != 0) break;
  }
  EXPECT_EQ(exit_code(writer), 0);
  EXPECT_EQ(SqliteStore::open(file, Access::read_only).events(0).size(), std::size_t{kBatch * kBatches});
}

TEST(SqliteStore, CompetingProcessesNeverTakeTheSameDecision) {
  constexpr int kProcesses = 3;
  constexpr int kDecisions = 12;  // of each
  const TempDir directory;
  const std::filesystem::path file = directory / "study.db";
  SqliteStore::create(file, sample_spec());
  std::vector<pid_t> children;
  for (int process = 0; process < kProcesses; ++process) {
    children.push_back(in_child([&] {
      SqliteStore store = SqliteStore::open(file, Access::read_write);
      for (int won = 0; won < kDecisions;) {
        int decided = 0;
        const std::vector<StoredEvent> seen = store.events(0);
        for (const StoredEvent& stored : seen) decided += is_decision(stored.event) ? 1 : 0;
        if (!store.append_decision(std::ssize(seen), started(decided), kNow)) continue;
        ++won;
        store.append(std::ssize(seen) + 1, batch(decided, 2), kNow, Durability::process);  // unless another came first
      }
    }));
  }
  for (const pid_t child : children) EXPECT_EQ(exit_code(child), 0);
  std::vector<std::int64_t> trials;
  for (const StoredEvent& stored : SqliteStore::open(file, Access::read_only).events(0)) {
    if (const auto* decision = std::get_if<TrialStarted>(&stored.event)) trials.push_back(index(decision->trial));
  }
  ASSERT_EQ(trials.size(), std::size_t{kProcesses * kDecisions});
  for (std::size_t i = 0; i < trials.size(); ++i) EXPECT_EQ(trials[i], static_cast<std::int64_t>(i));
}

// Files of this process may grow to `bytes` only, as on a disk that is full.
class SmallDisk {
 public:
  explicit SmallDisk(std::uintmax_t bytes) : handler_(::signal(SIGXFSZ, SIG_IGN)) {
    ::getrlimit(RLIMIT_FSIZE, &before_);
    const struct rlimit small { static_cast<rlim_t>(bytes), before_.rlim_max };
    ::setrlimit(RLIMIT_FSIZE, &small);
  }
  ~SmallDisk() {
    ::setrlimit(RLIMIT_FSIZE, &before_);
    ::signal(SIGXFSZ, handler_);
  }

 private:
  struct rlimit before_ {};
  void (*handler_)(int);
};

TEST(SqliteStore, AFailedAppendLeavesNothingAndTheStoreGoesOnOnceThereIsSpace) {
  const TempDir directory;
  const std::filesystem::path file = directory / "study.db";
  SqliteStore store = SqliteStore::create(file, sample_spec());
  for (const Durability durability : {Durability::process, Durability::power}) {
    for (int room = 0; room < 5; ++room) {
      append_next(store, batch(0, 10), durability);
      const std::vector<Event> before = contents(store);
      {
        // Ends in the middle of the frames of the log that the batch needs.
        const SmallDisk disk(std::filesystem::file_size(file.string() + "-wal") + 3000 * room);
        EXPECT_THROW(store.append(std::ssize(before), batch(1, 2000), kNow, durability), StoreError);
        EXPECT_EQ(contents(store), before);
        EXPECT_EQ(contents(SqliteStore::open(file, Access::read_only)), before);
      }
      EXPECT_EQ(contents(store), before);
    }
  }
  {
    const SmallDisk disk(100);
    EXPECT_THROW(store.append_decision(last_of(store), started(1), kNow), StoreError);
  }
  EXPECT_TRUE(store.append_decision(last_of(store), started(1), kNow));
  EXPECT_EQ(contents(SqliteStore::open(file, Access::read_only)), contents(store));
}

TEST(SqliteStore, AFailedCreateLeavesNothing) {
  const TempDir directory;
  const std::filesystem::path file = directory / "study.db";
  {
    const SmallDisk disk(5000);
    EXPECT_THROW(SqliteStore::create(file, sample_spec()), StoreError);
  }
  EXPECT_TRUE(std::filesystem::is_empty(directory.path()));
  SqliteStore::create(file, sample_spec());
  EXPECT_EQ(SqliteStore::open(file, Access::read_only).spec(), sample_spec());
}

// ---- SIGKILL

struct Acknowledged {
  int events = 0;
  int decisions = 0;
};

// Appends batches and decisions for ever, and says after each what has been acknowledged.
void append_until_killed(const std::filesystem::path& file, int say) {
  SqliteStore store = SqliteStore::open(file, Access::read_write);
  Acknowledged done;
  for (const StoredEvent& stored : store.events(0)) {
    ++done.events;
    done.decisions += is_decision(stored.event) ? 1 : 0;
  }
  for (int i = 0;; ++i) {
    if (i % 4 == 3) {
      check(store.append_decision(done.events, started(done.decisions), kNow + i), "another decided");
      ++done.decisions;
      ++done.events;
    } else {
      const int size = 1 + i % 5;
      check(store.append(done.events, batch(i, size), kNow + i, Durability::process), "another wrote");
      done.events += size;
    }
    check(::write(say, &done, sizeof done) == sizeof done, "the pipe is gone");
  }
}

// How many events and decisions the log holds; checks that every batch is whole.
Acknowledged count_whole_batches(const std::filesystem::path& file) {
  const SqliteStore store = SqliteStore::open(file, Access::read_only);
  Acknowledged found;
  int next_of_batch = 0;
  int size_of_batch = 0;
  for (const StoredEvent& stored : store.events(0)) {
    ++found.events;
    if (is_decision(stored.event)) {
      ++found.decisions;
      continue;
    }
    const auto& fact = std::get<Measured>(stored.event);
    if (next_of_batch == 0) size_of_batch = 1 + static_cast<int>(index(fact.trial)) % 5;
    EXPECT_EQ(fact.measurement.epoch, next_of_batch + 1);
    next_of_batch = (next_of_batch + 1) % size_of_batch;
  }
  EXPECT_EQ(next_of_batch, 0) << "the last batch is torn";
  return found;
}

TEST(SqliteStore, NothingAcknowledgedIsLostBySigkill) {
  constexpr int kKills = 60;
  const TempDir directory;
  const std::filesystem::path file = directory / "study.db";
  SqliteStore::create(file, sample_spec());
  Rng rng(7);
  Acknowledged acknowledged;
  for (int round = 0; round < kKills; ++round) {
    int pipe[2];
    ASSERT_EQ(::pipe(pipe), 0);
    const pid_t child = in_child([&] { append_until_killed(file, pipe[1]); });
    ::close(pipe[1]);
    ::usleep(static_cast<useconds_t>(500 + rng.below(30000)));
    ::kill(child, SIGKILL);
    ASSERT_EQ(exit_code(child), -1) << "the child ended by itself";
    Acknowledged said;
    while (::read(pipe[0], &said, sizeof said) == sizeof said) acknowledged = said;
    ::close(pipe[0]);

    const Acknowledged found = count_whole_batches(file);
    EXPECT_GE(found.events, acknowledged.events);
    EXPECT_LE(found.events, acknowledged.events + 5) << "more than the one append that was under way";
    EXPECT_GE(found.decisions, acknowledged.decisions);
    EXPECT_LE(found.decisions, acknowledged.decisions + 1);
    acknowledged = found;
  }
  EXPECT_GT(acknowledged.events, kKills);
}

TEST(SqliteStore, AKilledCreateLeavesAWholeStudyOrNone) {
  Rng rng(8);
  int whole = 0;
  for (int round = 0; round < 40; ++round) {
    const TempDir directory;
    const std::filesystem::path file = directory / "study.db";
    const pid_t child = in_child([&] {
      SqliteStore::create(file, sample_spec());
      ::pause();
    });
    ::usleep(static_cast<useconds_t>(rng.below(20000)));
    ::kill(child, SIGKILL);
    exit_code(child);
    if (std::filesystem::exists(file)) {
      ++whole;
      EXPECT_EQ(SqliteStore::open(file, Access::read_write).spec(), sample_spec());
    } else {
      EXPECT_EQ(SqliteStore::create(file, sample_spec()).spec(), sample_spec());
    }
  }
  EXPECT_GT(whole, 0);
  EXPECT_LT(whole, 40);
}

}  // namespace sqlite_store_test
}  // namespace bapi
