#include "bapi/store/sqlite_store.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "bapi/base/error.h"
#include "bapi/store/event_row.h"
#include "bapi/store/new_file.h"
#include "bapi/store/sqlite_connection.h"
#include "bapi/study/codec.h"

namespace bapi {
namespace {

// The first four letters of every study: "bapi" in ASCII.
constexpr std::int64_t kApplicationId = 0x62617069;

constexpr std::int64_t kSchemaVersion = 1;

// Events for which room is made at once. A damaged file may claim any number.
constexpr EventSeq kMostReserved = 1 << 20;

// Comments stay in the file: `.schema` in the sqlite3 shell shows them.
constexpr const char* kSchema = R"sql(
CREATE TABLE meta (
  schema_version INTEGER NOT NULL
);
CREATE TABLE study (
  created   TEXT NOT NULL DEFAULT CURRENT_TIMESTAMP,  -- UTC
  decisions INTEGER NOT NULL DEFAULT 0,               -- how many decisions the log holds
  spec_json TEXT NOT NULL
);
CREATE TABLE event (
  seq     INTEGER PRIMARY KEY,  -- 1, 2, 3, ... without gaps
  at      REAL NOT NULL,        -- seconds since the Unix epoch
  kind    TEXT NOT NULL,        -- started, resumed, stopped, finished, measured, segment_done, ...
  trial   INTEGER,              -- NULL for the events of the study as a whole
  epoch   INTEGER,              -- measured, overhead: the epoch; started, resumed: the last epoch of the segment
  value   REAL,                 -- measured: the metric as reported; budget_changed: the new total
  cost    REAL,                 -- measured, overhead: what was spent. Their sum is what the study has spent
  payload TEXT                  -- the event as JSON; NULL where the columns say it all
);
)sql";

void check_schema(Connection& db) {
  const std::string file = db.file().string();
  if (db.query_integer("PRAGMA application_id") != kApplicationId) {
    throw StoreError(fmt::format("{}: it is not a bapi study, but an SQLite database of something else", file));
  }
  const std::int64_t version = db.query_integer("SELECT schema_version FROM meta");
  if (version > kSchemaVersion) {
    throw StoreError(
        fmt::format("{}: it was written by a newer bapi (schema {}, this program knows up to {}). Upgrade "
                    "bapi to open it",
                    file,
                    version,
                    kSchemaVersion));
  }
  if (version < 1) throw StoreError(fmt::format("{}: it is damaged: schema version {}", file, version));
}

void require_wal(Connection& db) {
  const std::string mode = db.query_text("PRAGMA journal_mode = WAL");
  if (mode != "wal") {
    throw StoreError(
        fmt::format("{}: its file system cannot share memory between processes (journal mode {}, needed "
                    "wal). Put the study on a local disk",
                    db.file().string(),
                    mode));
  }
}

// What is read from the file and makes no sense is damage, not the user's input.
StudySpec read_spec(Connection& db) {
  try {
    return decode_spec(db.query_text("SELECT spec_json FROM study"));
  } catch (const NewerFormat& error) {
    throw StoreError(fmt::format("{}: the specification: {}", db.file().string(), error.what()));
  } catch (const InvalidInput& error) {
    throw StoreError(fmt::format("{}: the specification is damaged: {}", db.file().string(), error.what()));
  }
}

std::string image_of_new_study(const std::filesystem::path& file, const StudySpec& spec) {
  Connection db(file, OpenMode::memory);
  db.execute(fmt::format("PRAGMA application_id = {};", kApplicationId));
  db.execute(kSchema);
  db.execute(fmt::format("INSERT INTO meta VALUES ({})", kSchemaVersion));
  const std::string text = encode(spec);
  Statement insert(db, "INSERT INTO study (spec_json) VALUES (?1)");
  insert.bind(1, text);
  insert.run();
  return db.image();
}

// A link could lead to a log that is driven elsewhere, under another lock, or was planted. The directory may be one.
bool is_there(const std::filesystem::path& file) {
  std::error_code error;
  const std::filesystem::file_type type = std::filesystem::symlink_status(file, error).type();
  if (type == std::filesystem::file_type::not_found) return false;
  if (type == std::filesystem::file_type::none) {
    throw StoreError(fmt::format("{}: cannot be accessed: {}", file.string(), error.message()));
  }
  if (type == std::filesystem::file_type::symlink) {
    throw StoreError(
        fmt::format("{}: it is a symbolic link, which is not followed: the log and its lock belong together. Move the "
                    "whole study directory and link that",
                    file.string()));
  }
  if (type != std::filesystem::file_type::regular) {
    throw StoreError(fmt::format("{}: it is not a regular file", file.string()));
  }
  return true;
}

std::atomic<std::int64_t> whole_reads_so_far = 0;

// A log without its database belongs to a study that was deleted; SQLite would apply it to the new one.
void remove_orphaned_log(const std::filesystem::path& file) {
  for (const char* suffix : {"-wal", "-shm"}) {
    std::error_code error;
    std::filesystem::remove(file.string() + suffix, error);
    if (error) throw StoreError(fmt::format("{}{}: cannot be removed: {}", file.string(), suffix, error.message()));
  }
}

}  // namespace

struct SqliteStore::Impl {
  Impl(const std::filesystem::path& file, Access access)
      : db(file, access == Access::read_only ? OpenMode::read_only : OpenMode::read_write) {
    check_schema(db);
    if (access == Access::read_write) require_wal(db);
    spec = read_spec(db);
    insert.emplace(db,
                   "INSERT INTO event (at, kind, trial, epoch, value, cost, payload) "
                   "VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)");
    count_decision.emplace(db, "UPDATE study SET decisions = decisions + 1");
    last.emplace(db, "SELECT max(seq) FROM event");
    select.emplace(db,
                   "SELECT seq, at, kind, trial, epoch, value, cost, payload FROM event WHERE seq > ?1 ORDER BY seq "
                   "LIMIT ?2");
  }

  void insert_event(const Event& event, double at);
  EventSeq last_seq();
  Event read_event() const;
  void check_place() const;

  Connection db;
  StudySpec spec;
  const Leadership* leadership = nullptr;
  std::optional<Statement> insert;
  std::optional<Statement> count_decision;
  std::optional<Statement> last;
  std::optional<Statement> select;
};

// The row gets the number after the last one: rows are never deleted, so numbers have no gaps.
void SqliteStore::Impl::insert_event(const Event& event, double at) {
  const EventRow row = row_of(event);
  const auto bind = [&](int parameter, const auto& value) {
    value ? insert->bind(parameter, *value) : insert->bind_null(parameter);
  };
  insert->bind(1, at);
  insert->bind(2, row.kind);
  bind(3, row.trial);
  bind(4, row.epoch);
  bind(5, row.value);
  bind(6, row.cost);
  bind(7, row.payload);
  insert->run();
}

EventSeq SqliteStore::Impl::last_seq() {
  const ResetAtEnd reset(*last);
  return last->next() ? last->integer(0) : 0;
}

// The row that `select` stands on. InvalidInput if it makes no sense.
Event SqliteStore::Impl::read_event() const {
  if (!select->is_null(7)) return decode_event(select->text(7));
  return event_of({.kind = std::string(select->text(2)),
                   .trial = select->integer(3),
                   .epoch = select->integer(4),
                   .value = select->number(5),
                   .cost = select->number(6)});
}

// Nobody else may write the log by now, and it is where its readers look for it.
void SqliteStore::Impl::check_place() const {
  if (leadership) leadership->check_held();
  if (!db.has_moved()) return;
  throw StoreError(
      fmt::format("{}: this file was removed or replaced while the study was running. Nothing more is written; put it "
                  "back, or a copy of it, and run the study again",
                  db.file().string()));
}

SqliteStore::SqliteStore(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
SqliteStore::SqliteStore(SqliteStore&&) noexcept = default;
SqliteStore& SqliteStore::operator=(SqliteStore&&) noexcept = default;
SqliteStore::~SqliteStore() = default;

SqliteStore SqliteStore::create(const std::filesystem::path& file, const StudySpec& spec) {
  const auto refuse_existing = [&] {
    throw InvalidInput(fmt::format("{}: there is a study already; resume it, or choose another name", file.string()));
  };
  if (is_there(file)) refuse_existing();
  remove_orphaned_log(file);
  if (make_file(file, image_of_new_study(file, spec)) == NewFile::existed) refuse_existing();
  return open(file, Access::read_write);
}

SqliteStore SqliteStore::open(const std::filesystem::path& file, Access access) {
  if (!is_there(file)) {
    throw StoreError(
        fmt::format("{}: there is no study here. Check the name, or start one with `bapi run`", file.string()));
  }
  return SqliteStore(std::make_unique<Impl>(file, access));
}

EventSeq SqliteStore::copy_until(const std::filesystem::path& file, const std::filesystem::path& copy, EventSeq last) {
  {
    Connection source(file, OpenMode::read_only);
    check_schema(source);
    const std::string target = copy.string();
    Statement vacuum(source, "VACUUM INTO ?1");
    vacuum.bind(1, target);
    vacuum.run();
  }
  Connection db(copy, OpenMode::read_write);
  require_wal(db);
  db.set_commit_sync(CommitSync::full);
  Transaction transaction(db);
  db.execute(fmt::format("CREATE TABLE set_aside AS SELECT * FROM event WHERE seq > {}", last));
  db.execute(fmt::format("DELETE FROM event WHERE seq > {}", last));
  db.execute(
      "UPDATE study SET decisions = "
      "(SELECT count(*) FROM event WHERE kind IN ('started', 'resumed', 'stopped', 'finished'))");
  const EventSeq count = db.query_integer("SELECT count(*) FROM set_aside");
  transaction.commit();
  return count;
}

std::string SqliteStore::place() const { return impl_->db.file().string(); }

const StudySpec& SqliteStore::spec() const { return impl_->spec; }

std::int64_t SqliteStore::whole_reads() { return whole_reads_so_far; }

void SqliteStore::write_under(const Leadership& leadership) { impl_->leadership = &leadership; }

EventLog SqliteStore::read(EventSeq after, EventSeq most) const {
  if (after <= 0) ++whole_reads_so_far;
  EventLog log;
  EventSeq expected = std::max<EventSeq>(after, 0) + 1;
  log.events.reserve(static_cast<std::size_t>(
      std::clamp<EventSeq>(impl_->last_seq() - expected + 1, 0, std::min(most, kMostReserved))));
  Statement& select = *impl_->select;
  const ResetAtEnd reset(select);
  select.bind(1, after);
  select.bind(2, most);
  while (select.next()) {
    const EventSeq seq = select.integer(0);
    if (seq != expected) {
      log.damage = Damage{.seq = expected, .reason = "it is missing"};
      return log;
    }
    try {
      log.events.push_back({.seq = seq, .at = select.number(1), .event = impl_->read_event()});
    } catch (const NewerFormat& error) {
      throw StoreError(fmt::format("{}: event {}: {}", impl_->db.file().string(), seq, error.what()));
    } catch (const InvalidInput& error) {
      log.damage = Damage{.seq = seq, .kind = std::string(select.text(2)), .reason = error.what()};
      return log;
    }
    ++expected;
  }
  return log;
}

bool SqliteStore::append(EventSeq last, std::span<const Event> facts, double at, Durability durability) {
  for (const Event& fact : facts) check(!is_decision(fact), "append: a decision goes through append_decision");
  impl_->check_place();
  impl_->db.set_commit_sync(durability == Durability::power ? CommitSync::full : CommitSync::normal);
  Transaction transaction(impl_->db);
  if (impl_->last_seq() != last) return false;
  for (const Event& fact : facts) impl_->insert_event(fact, at);
  transaction.commit();
  return true;
}

bool SqliteStore::append_decision(EventSeq last, const Event& decision, double at) {
  check(is_decision(decision), "append_decision: a fact goes through append");
  impl_->check_place();
  impl_->db.set_commit_sync(CommitSync::full);
  Transaction transaction(impl_->db);
  if (impl_->last_seq() != last) return false;
  impl_->count_decision->run();
  impl_->insert_event(decision, at);
  transaction.commit();
  return true;
}

void SqliteStore::update_spec(const StudySpec& spec) {
  const std::string text = encode(spec);
  impl_->check_place();
  impl_->db.set_commit_sync(CommitSync::full);
  Transaction transaction(impl_->db);
  Statement update(impl_->db, "UPDATE study SET spec_json = ?1");
  update.bind(1, text);
  update.run();
  transaction.commit();
  impl_->spec = spec;
}

}  // namespace bapi
