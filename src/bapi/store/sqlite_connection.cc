#include "bapi/store/sqlite_connection.h"

#include <fmt/format.h>
#include <sqlite3.h>

#include <cerrno>
#include <cstring>
#include <new>

#include "bapi/base/error.h"
#include "bapi/base/file.h"

namespace bapi {
namespace {

// How long a writer waits for another one.
constexpr int kBusyMilliseconds = 5000;

// What happened and what to do, in words. `code` is a primary result code.
std::string advice(int code) {
  switch (code) {
    case SQLITE_FULL:
      return "the disk is full. Nothing of this write was kept; free some space and resume the study";
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
      return fmt::format("another process has kept it locked for {} s. Wait for it or end it, then try again",
                         kBusyMilliseconds / 1000);
    case SQLITE_READONLY:
    case SQLITE_PERM:
    case SQLITE_AUTH:
      return "it cannot be written. Check the permissions of the file and its directory";
    case SQLITE_CANTOPEN:
      return "it cannot be opened. Check that it exists and that you may read it and write to its directory";
    case SQLITE_NOTADB:
      return "it is not a bapi study: not an SQLite database";
    case SQLITE_CORRUPT:
      return "it is damaged. Restore a copy, or save what can be read with `sqlite3 FILE .recover`";
    case SQLITE_IOERR:
      return "reading or writing failed. Nothing of this write was kept; check the disk and resume the study";
    default:
      return "the database refused";
  }
}

// Whether the same may succeed later, with nothing done about the study. `error` is the system's reason.
bool may_pass(int code, int error) {
  if (code == SQLITE_IOERR) return is_shortage(error) || error == EIO || error == ESTALE;
  return code == SQLITE_FULL || code == SQLITE_BUSY || code == SQLITE_LOCKED;
}

// Percent-encoded, for the URI form of file names.
std::string uri_of(const std::filesystem::path& file, std::string_view query) {
  std::string uri = "file:";
  for (const char c : std::filesystem::absolute(file).string()) {
    if (c == '%' || c == '?' || c == '#') {
      uri += fmt::format("%{:02X}", static_cast<unsigned char>(c));
    } else {
      uri += c;
    }
  }
  return fmt::format("{}?{}", uri, query);
}

bool has_write_ahead_log(const std::filesystem::path& file) {
  std::error_code missing;
  const auto size = std::filesystem::file_size(file.string() + "-wal", missing);
  return !missing && size > 0;
}

}  // namespace

// ---- Statement

void Statement::Finalize::operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }

Statement::Statement(Connection& db, std::string_view sql) : db_(&db) {
  sqlite3_stmt* statement = nullptr;
  const int code = sqlite3_prepare_v3(
      db.db_.get(), sql.data(), static_cast<int>(sql.size()), SQLITE_PREPARE_PERSISTENT, &statement, nullptr);
  statement_.reset(statement);
  if (code != SQLITE_OK) db.fail(code);
}

void Statement::bind(int parameter, std::int64_t number) {
  check(sqlite3_bind_int64(statement_.get(), parameter, number) == SQLITE_OK, "store: no such parameter");
}

void Statement::bind(int parameter, double number) {
  check(sqlite3_bind_double(statement_.get(), parameter, number) == SQLITE_OK, "store: no such parameter");
}

void Statement::bind(int parameter, std::string_view text) {
  const int code =
      sqlite3_bind_text64(statement_.get(), parameter, text.data(), text.size(), SQLITE_STATIC, SQLITE_UTF8);
  if (code != SQLITE_OK) db_->fail(code);
}

void Statement::bind_null(int parameter) {
  check(sqlite3_bind_null(statement_.get(), parameter) == SQLITE_OK, "store: no such parameter");
}

void Statement::run() { check(!next(), "store: a statement without result returned a row"); }

bool Statement::next() {
  const int code = sqlite3_step(statement_.get());
  if (code == SQLITE_ROW) return true;
  sqlite3_reset(statement_.get());
  if (code != SQLITE_DONE) db_->fail(code);
  return false;
}

void Statement::reset() { sqlite3_reset(statement_.get()); }

bool Statement::is_null(int column) const { return sqlite3_column_type(statement_.get(), column) == SQLITE_NULL; }

std::int64_t Statement::integer(int column) const { return sqlite3_column_int64(statement_.get(), column); }

double Statement::number(int column) const { return sqlite3_column_double(statement_.get(), column); }

std::string_view Statement::text(int column) const {
  const auto* text = reinterpret_cast<const char*>(sqlite3_column_text(statement_.get(), column));
  if (text == nullptr) return {};
  return {text, static_cast<std::size_t>(sqlite3_column_bytes(statement_.get(), column))};
}

// ---- Connection

void Connection::Close::operator()(sqlite3* db) const { sqlite3_close_v2(db); }

Connection::Connection(const std::filesystem::path& file, OpenMode mode) : file_(file) {
  switch (mode) {
    case OpenMode::memory:
      open(":memory:", SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE);
      break;
    case OpenMode::read_write:
      open(std::filesystem::absolute(file).string(), SQLITE_OPEN_READWRITE);
      break;
    case OpenMode::read_only:
      open_read_only();
      break;
  }
  execute("PRAGMA synchronous = FULL");
  begin_ = std::make_unique<Statement>(*this, "BEGIN IMMEDIATE");
  commit_ = std::make_unique<Statement>(*this, "COMMIT");
}

Connection::~Connection() = default;

void Connection::open(const std::string& name, int flags) {
  sqlite3* db = nullptr;
  const int code = sqlite3_open_v2(name.c_str(), &db, flags | SQLITE_OPEN_NOMUTEX, nullptr);
  db_.reset(db);
  if (code != SQLITE_OK) fail(code);
  sqlite3_extended_result_codes(db, 1);
  sqlite3_busy_timeout(db, kBusyMilliseconds);
}

// Readers of a WAL database share memory in a file beside it, which they may have to make. Where the directory cannot
// be written and no log is waiting to be read, the file is complete by itself and nobody else can be writing.
void Connection::open_read_only() {
  open(std::filesystem::absolute(file_).string(), SQLITE_OPEN_READONLY);
  const int code = sqlite3_exec(db_.get(), "PRAGMA schema_version", nullptr, nullptr, nullptr);
  const bool cannot_share = (code & 0xff) == SQLITE_CANTOPEN || (code & 0xff) == SQLITE_READONLY;
  if (cannot_share && !has_write_ahead_log(file_)) {
    open(uri_of(file_, "immutable=1"), SQLITE_OPEN_READONLY | SQLITE_OPEN_URI);
  }
}

void Connection::execute(const std::string& sql) {
  const int code = sqlite3_exec(db_.get(), sql.c_str(), nullptr, nullptr, nullptr);
  if (code != SQLITE_OK) fail(code);
}

std::int64_t Connection::query_integer(const std::string& sql) {
  Statement query(*this, sql);
  return query.next() ? query.integer(0) : 0;
}

std::string Connection::query_text(const std::string& sql) {
  Statement query(*this, sql);
  return query.next() ? std::string(query.text(0)) : std::string();
}

void Connection::set_commit_sync(CommitSync sync) {
  if (sync == sync_) return;
  execute(sync == CommitSync::full ? "PRAGMA synchronous = FULL" : "PRAGMA synchronous = NORMAL");
  sync_ = sync;
}

bool Connection::has_moved() const {
  int moved = 0;
  return sqlite3_file_control(db_.get(), "main", SQLITE_FCNTL_HAS_MOVED, &moved) == SQLITE_OK && moved != 0;
}

std::string Connection::image() const {
  sqlite3_int64 size = 0;
  const std::unique_ptr<unsigned char, void (*)(void*)> bytes(sqlite3_serialize(db_.get(), "main", &size, 0),
                                                              sqlite3_free);
  if (bytes == nullptr) throw std::bad_alloc();
  std::string image(reinterpret_cast<const char*>(bytes.get()), static_cast<std::size_t>(size));
  // Bytes 18 and 19 of the header are the write and read versions of the file format; 2 stands for WAL.
  image.at(18) = 2;
  image.at(19) = 2;
  return image;
}

void Connection::begin() { begin_->run(); }

void Connection::commit() { commit_->run(); }

// A failed write may have rolled back by itself. What a rollback could not undo is undone when the log is next read.
void Connection::roll_back() noexcept {
  if (sqlite3_get_autocommit(db_.get()) == 0) sqlite3_exec(db_.get(), "ROLLBACK", nullptr, nullptr, nullptr);
}

void Connection::fail(int code) const {
  const int primary = code & 0xff;
  if (primary == SQLITE_NOMEM) throw std::bad_alloc();
  const int system = db_ ? sqlite3_system_errno(db_.get()) : 0;
  std::string detail = fmt::format("SQLite {}: {}", code, db_ ? sqlite3_errmsg(db_.get()) : sqlite3_errstr(code));
  if (system != 0 && (primary == SQLITE_IOERR || primary == SQLITE_CANTOPEN)) {
    detail += fmt::format("; {}", std::strerror(system));
  }
  const std::string text = fmt::format("{}: {} ({})", file_.string(), advice(primary), detail);
  if (may_pass(primary, system)) throw Shortage(text);
  throw StoreError(text);
}

// ---- Transaction

Transaction::Transaction(Connection& db) : db_(db) { db_.begin(); }

Transaction::~Transaction() {
  if (open_) db_.roll_back();
}

void Transaction::commit() {
  db_.commit();
  open_ = false;
}

}  // namespace bapi
