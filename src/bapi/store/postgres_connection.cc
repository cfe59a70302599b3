#include "bapi/store/postgres_connection.h"

#include <fmt/format.h>

#include <utility>

#include "bapi/base/error.h"
#include "bapi/base/match.h"

#ifdef BAPI_HAS_LIBPQ

#include <endian.h>
#include <libpq-fe.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <chrono>
#include <cmath>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <fstream>

namespace bapi {
namespace {

// Types of the server's catalogue (pg_type.dat), which never change.
enum ServerType : Oid {
  kBool = 16,
  kInt8 = 20,
  kInt2 = 21,
  kInt4 = 23,
  kText = 25,
  kFloat4 = 700,
  kFloat8 = 701,
  kTextArray = 1009,
  kInt8Array = 1016,
  kFloat8Array = 1022,
  kTimestamptz = 1184,
};

// From the Unix epoch to 2000-01-01, from where the server counts.
constexpr std::int64_t kServerEpoch = 946'684'800LL * 1'000'000LL;  // microseconds

using SteadyClock = std::chrono::steady_clock;

// ---- the wire: numbers with the highest byte first

void put_bits(std::string& out, std::uint32_t number) {
  const std::uint32_t big = htobe32(number);
  out.append(reinterpret_cast<const char*>(&big), sizeof big);
}

void put_bits(std::string& out, std::uint64_t number) {
  const std::uint64_t big = htobe64(number);
  out.append(reinterpret_cast<const char*>(&big), sizeof big);
}

void put(std::string& out, std::int64_t number) { put_bits(out, static_cast<std::uint64_t>(number)); }
void put(std::string& out, double number) { put_bits(out, std::bit_cast<std::uint64_t>(number)); }
void put(std::string& out, const std::string& text) { out += text; }

std::uint64_t bits_of(std::string_view bytes) {
  std::uint64_t number = 0;
  for (const char byte : bytes) number = (number << 8U) | static_cast<unsigned char>(byte);
  return number;
}

template <typename T>
constexpr Oid kElement = kText;
template <>
constexpr Oid kElement<std::int64_t> = kInt8;
template <>
constexpr Oid kElement<double> = kFloat8;

template <typename T>
std::string array_bytes(const SqlArray<T>& array) {
  std::string out;
  put_bits(out, array.empty() ? std::uint32_t{0} : std::uint32_t{1});  // dimensions
  put_bits(out, std::uint32_t{1});                                     // there may be NULLs
  put_bits(out, std::uint32_t{kElement<T>});
  if (array.empty()) return out;
  put_bits(out, static_cast<std::uint32_t>(array.size()));
  put_bits(out, std::uint32_t{1});  // the first has index 1
  for (const std::optional<T>& element : array) {
    if (!element) {
      put_bits(out, ~std::uint32_t{0});
      continue;
    }
    std::string bytes;
    put(bytes, *element);
    put_bits(out, static_cast<std::uint32_t>(bytes.size()));
    out += bytes;
  }
  return out;
}

struct WireValue {
  Oid type = 0;  // 0: the server finds out
  std::optional<std::string> bytes = {};
};

WireValue wire(const SqlValue& value) {
  const auto number = [](Oid type, auto n) {
    WireValue wired{.type = type, .bytes = std::string()};
    put(*wired.bytes, n);
    return wired;
  };
  return std::visit(Match{[](std::nullptr_t) { return WireValue{}; },
                          [&](std::int64_t n) { return number(kInt8, n); },
                          [&](double n) { return number(kFloat8, n); },
                          [](std::string_view text) {
                            return WireValue{kText, std::string(text)};
                          },
                          [&](const Instant& instant) {
                            const auto micros = static_cast<std::int64_t>(std::llround(instant.seconds * 1e6));
                            return number(kTimestamptz, micros - kServerEpoch);
                          },
                          [](const SqlArray<std::int64_t>& a) {
                            return WireValue{kInt8Array, array_bytes(a)};
                          },
                          [](const SqlArray<double>& a) {
                            return WireValue{kFloat8Array, array_bytes(a)};
                          },
                          [](const SqlArray<std::string>& a) {
                            return WireValue{kTextArray, array_bytes(a)};
                          }},
                    value);
}

// ---- messages

// libpq's texts are lines, some of them indented, and may end with a question.
std::string one_line(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c != '\n' && c != '\t') {
      out += c;
    } else if (!out.empty() && out.back() != ' ') {
      out += ' ';
    }
  }
  while (!out.empty() && (out.back() == ' ' || out.back() == '?')) out.pop_back();
  return out;
}

// What happened and what to do, by the server's code (SQLSTATE, appendix A of its manual).
std::string advice(std::string_view state) {
  if (state == "53100") return "the disk of the server is full. Nothing of this write was kept; free some space";
  if (state == "53300") return "the server has no free connection. Raise its max_connections, or use fewer workers";
  if (state.starts_with("53")) return "the server is short of memory or files. Nothing of this write was kept";
  if (state == "25006") return "the database is read-only, as a standby or a full one is. Nothing was written";
  if (state.starts_with("57P") || state.starts_with("08")) return "the server ended the connection";
  if (state == "57014") return "the server took too long and gave up. Nothing of this write was kept";
  if (state.starts_with("40") || state == "55P03") return "another transaction conflicted. Nothing was written";
  if (state.starts_with("58")) return "the server cannot read or write its files. Nothing of this write was kept";
  if (state == "42501") return "this user lacks the permission. Ask the owner of the database for it";
  if (state.starts_with("28")) return "the server refused this user. Check user, password (PGPASSFILE) and pg_hba.conf";
  return "the database refused";
}

bool may_pass(std::string_view state) {
  return state.starts_with("53") || state.starts_with("57") || state.starts_with("08") || state.starts_with("40") ||
         state.starts_with("58") || state == "25006" || state == "55P03";
}

// Whether a connection was refused for good. libpq gives no code; a text in another language counts as trouble that
// may pass.
bool is_refusal(std::string_view message) {
  for (const std::string_view words : {"authentication failed",
                                       "does not exist",
                                       "no pg_hba.conf entry",
                                       "permission denied for database",
                                       "no password supplied",
                                       "certificate",
                                       "invalid"}) {
    if (message.find(words) != std::string_view::npos) return true;
  }
  return false;
}

void ignore_notice(void*, const PGresult*) {}

}  // namespace

// ---- SqlRows

void SqlRows::Clear::operator()(pg_result* result) const { PQclear(result); }

int SqlRows::size() const { return PQntuples(result_.get()); }

bool SqlRows::is_null(int row, int column) const { return PQgetisnull(result_.get(), row, column) != 0; }

unsigned SqlRows::type(int column) const { return PQftype(result_.get(), column); }

std::string_view SqlRows::bytes(int row, int column) const {
  check(row < size() && column < PQnfields(result_.get()), "postgres: no such field");
  return {PQgetvalue(result_.get(), row, column), static_cast<std::size_t>(PQgetlength(result_.get(), row, column))};
}

std::int64_t SqlRows::integer(int row, int column) const {
  const std::uint64_t bits = bits_of(bytes(row, column));
  switch (type(column)) {
    case kBool:
      return static_cast<std::int64_t>(bits);
    case kInt2:
      return static_cast<std::int16_t>(bits);
    case kInt4:
      return static_cast<std::int32_t>(bits);
    case kInt8:
      return static_cast<std::int64_t>(bits);
    default:
      throw LogicError(fmt::format("postgres: column {} is not an integer", column));
  }
}

double SqlRows::number(int row, int column) const {
  const std::uint64_t bits = bits_of(bytes(row, column));
  if (type(column) == kFloat8) return std::bit_cast<double>(bits);
  check(type(column) == kFloat4, "postgres: a column is not a number");
  return static_cast<double>(std::bit_cast<float>(static_cast<std::uint32_t>(bits)));
}

double SqlRows::instant(int row, int column) const {
  check(type(column) == kTimestamptz, "postgres: a column is not a timestamp");
  const auto micros = static_cast<std::int64_t>(bits_of(bytes(row, column)));
  return static_cast<double>(micros + kServerEpoch) / 1e6;
}

std::string_view SqlRows::text(int row, int column) const { return bytes(row, column); }

std::optional<double> SqlRows::optional_number(int row, int column) const {
  return is_null(row, column) ? std::nullopt : std::optional(number(row, column));
}

std::optional<std::int64_t> SqlRows::optional_integer(int row, int column) const {
  return is_null(row, column) ? std::nullopt : std::optional(integer(row, column));
}

std::optional<std::string> SqlRows::optional_text(int row, int column) const {
  return is_null(row, column) ? std::nullopt : std::optional(std::string(text(row, column)));
}

// ---- PostgresConnection

namespace {

// For tests of what a death leaves: $BAPI_TEST_DEATH, "17" or "17+", kills this process before it sends the statement
// of this number, or when it has sent it and has no answer yet; with $BAPI_TEST_DEATH_OF, a file that begins with the
// number of a process, as postmaster.pid does, that process.
class ArrangedDeath {
 public:
  static ArrangedDeath& of_this_process() {
    static ArrangedDeath death;
    return death;
  }
  void before_statement() {
    if (++count_ == at_ && !sent_) die();
  }
  void after_statement() {
    if (count_ == at_ && sent_) die();
  }

 private:
  ArrangedDeath() {
    const char* text = std::getenv("BAPI_TEST_DEATH");
    if (text == nullptr) return;
    at_ = std::atol(text);
    sent_ = std::strchr(text, '+') != nullptr;
  }
  static void die() {
    const char* of = std::getenv("BAPI_TEST_DEATH_OF");
    int victim = ::getpid();
    if (of != nullptr && !(std::ifstream(of) >> victim)) return;
    ::kill(victim, SIGKILL);
  }

  std::atomic<long> count_ = 0;
  long at_ = 0;  // 0: never
  bool sent_ = false;
};

}  // namespace

void PostgresConnection::Finish::operator()(pg_conn* connection) const { PQfinish(connection); }

PostgresConnection::PostgresConnection(DatabaseUrl url, ConnectionOptions options)
    : url_(std::move(url)), options_(std::move(options)), owner_(::getpid()) {
  char* trouble = nullptr;
  PQconninfoOption* parsed = PQconninfoParse(url_.with_password().c_str(), &trouble);
  PQconninfoFree(parsed);
  // libpq quotes what it did not understand, which may be a part of a password.
  const std::string why = url_.has_password() || !trouble ? "" : ": " + one_line(trouble);
  PQfreemem(trouble);
  require(parsed != nullptr,
          fmt::format("{}: found an address that cannot be understood{}; expected postgresql://user@host/database",
                      url_.shown(),
                      why));
}

PostgresConnection::~PostgresConnection() { close(); }

// PQfinish would take leave of the server in the parent's name.
void PostgresConnection::close() {
  if (connection_ && is_anothers()) {
    ::close(PQsocket(connection_.release()));
  } else {
    connection_.reset();
  }
}

bool PostgresConnection::is_anothers() const { return owner_ != ::getpid(); }

// What the address says goes before these; what it must not change comes after it.
void PostgresConnection::connect() {
  const std::string patience = fmt::format("{:.0f}", std::max(2.0, std::ceil(options_.patience)));
  const std::string silence = fmt::format("{:.0f}", options_.silence * 1e3);
  const std::array<const char*, 10> names = {"connect_timeout",
                                             "keepalives_idle",
                                             "keepalives_interval",
                                             "keepalives_count",
                                             "tcp_user_timeout",
                                             "fallback_application_name",
                                             "dbname",
                                             "client_encoding",
                                             nullptr};
  const std::array<const char*, 10> values = {patience.c_str(),
                                              "10",
                                              "5",
                                              "3",
                                              silence.c_str(),
                                              options_.name.c_str(),
                                              url_.with_password().c_str(),
                                              "UTF8",
                                              nullptr};
  connection_.reset(PQconnectdbParams(names.data(), values.data(), 1));
  if (PQstatus(connection_.get()) != CONNECTION_OK) {
    const std::string message = one_line(PQerrorMessage(connection_.get()));
    connection_.reset();
    const std::string text = fmt::format("{}: cannot connect: {}", url_.shown(), message);
    if (is_refusal(message)) {
      throw StoreError(text +
                       ". Check user, database and password (~/.pgpass or PGPASSFILE), and the server's pg_hba.conf");
    }
    throw ConnectionLost(text + ". Check that the server is running and can be reached from here");
  }
  PQsetNoticeReceiver(connection_.get(), ignore_notice, nullptr);
  PQsetnonblocking(connection_.get(), 1);
  ++generation_;
  if (server_version() < 140000) {
    const int version = server_version();
    connection_.reset();
    throw StoreError(fmt::format(
        "{}: found PostgreSQL {}, expected 14 or newer. Upgrade the server", url_.shown(), version / 10000));
  }
  // A cut between two machines must not leave a transaction open, or a statement running, for hours.
  try {
    execute("SET statement_timeout = '60s'; SET idle_in_transaction_session_timeout = '60s';" + options_.set_up);
  } catch (const Error&) {
    connection_.reset();
    throw;
  }
}

void PostgresConnection::require_connection() {
  if (is_anothers()) {
    throw StoreError(fmt::format("{}: a forked child cannot use its parent's connection", url_.shown()));
  }
  if (connection_ && PQstatus(connection_.get()) != CONNECTION_OK) connection_.reset();
  if (!connection_) connect();
}

void PostgresConnection::lose(const std::string& reason) {
  connection_.reset();
  throw ConnectionLost(fmt::format("{}: the connection was lost: {}", url_.shown(), one_line(reason)));
}

void PostgresConnection::fail(const std::string& state, const std::string& message) {
  const std::string text = fmt::format("{}: {} (PostgreSQL {}: {})", url_.shown(), advice(state), state, message);
  if (may_pass(state)) throw Shortage(text);
  throw StoreError(text);
}

// Waits for the socket; a server that says nothing at all for too long is as good as gone.
void PostgresConnection::wait_for(short events, double seconds) {
  const auto until = SteadyClock::now() + std::chrono::duration<double>(seconds);
  while (true) {
    pollfd file{.fd = PQsocket(connection_.get()), .events = events, .revents = 0};
    const double left = std::chrono::duration<double>(until - SteadyClock::now()).count();
    const int ready = ::poll(&file, 1, static_cast<int>(std::ceil(std::max(0.0, left) * 1e3)));
    if (ready > 0) return;
    if (ready == 0) lose(fmt::format("no answer within {:.3g} s", seconds));
    if (errno != EINTR) lose(std::strerror(errno));
  }
}

void PostgresConnection::flush() {
  while (true) {
    const int state = PQflush(connection_.get());
    if (state == 0) return;
    if (state < 0) lose(PQerrorMessage(connection_.get()));
    wait_for(POLLIN | POLLOUT, options_.silence);
    if (PQconsumeInput(connection_.get()) == 0) lose(PQerrorMessage(connection_.get()));
  }
}

// The result of the last statement, or of the first that failed.
pg_result* PostgresConnection::answer(const std::function<int()>& send) {
  ArrangedDeath& death = ArrangedDeath::of_this_process();
  death.before_statement();
  if (send() == 0) lose(PQerrorMessage(connection_.get()));
  flush();
  death.after_statement();
  std::unique_ptr<pg_result, void (*)(pg_result*)> kept(nullptr, PQclear);
  while (true) {
    while (PQisBusy(connection_.get()) != 0) {
      wait_for(POLLIN, options_.silence);
      if (PQconsumeInput(connection_.get()) == 0) lose(PQerrorMessage(connection_.get()));
    }
    pg_result* next = PQgetResult(connection_.get());
    if (!next) break;
    const bool failed = kept && PQresultStatus(kept.get()) == PGRES_FATAL_ERROR;
    if (failed) {
      PQclear(next);
    } else {
      kept.reset(next);
    }
  }
  const ExecStatusType status = kept ? PQresultStatus(kept.get()) : PGRES_FATAL_ERROR;
  if (status == PGRES_TUPLES_OK || status == PGRES_COMMAND_OK || status == PGRES_EMPTY_QUERY) return kept.release();
  const std::string message = one_line(kept ? PQresultErrorMessage(kept.get()) : PQerrorMessage(connection_.get()));
  if (PQstatus(connection_.get()) != CONNECTION_OK) lose(message);
  const char* state = kept ? PQresultErrorField(kept.get(), PG_DIAG_SQLSTATE) : nullptr;
  fail(state ? state : "XX000", message);
}

SqlRows PostgresConnection::run(const std::string& sql, const std::vector<SqlValue>& parameters) {
  require_connection();
  std::vector<WireValue> wired;
  for (const SqlValue& value : parameters) wired.push_back(wire(value));
  std::vector<Oid> types;
  std::vector<const char*> values;
  std::vector<int> lengths;
  const std::vector<int> formats(wired.size(), 1);
  for (const WireValue& value : wired) {
    types.push_back(value.type);
    values.push_back(value.bytes ? value.bytes->data() : nullptr);
    lengths.push_back(value.bytes ? static_cast<int>(value.bytes->size()) : 0);
  }
  return SqlRows(answer([&] {
    return PQsendQueryParams(connection_.get(),
                             sql.c_str(),
                             static_cast<int>(wired.size()),
                             types.data(),
                             values.data(),
                             lengths.data(),
                             formats.data(),
                             1);
  }));
}

void PostgresConnection::execute(const std::string& script) {
  require_connection();
  const SqlRows ignored(answer([&] { return PQsendQuery(connection_.get(), script.c_str()); }));
}

bool PostgresConnection::wait_for_notice(double seconds) {
  require_connection();
  const auto until = SteadyClock::now() + std::chrono::duration<double>(seconds);
  const auto take = [&] {
    bool any = false;
    while (PGnotify* notice = PQnotifies(connection_.get())) {
      PQfreemem(notice);
      any = true;
    }
    return any;
  };
  while (true) {
    if (PQconsumeInput(connection_.get()) == 0) lose(PQerrorMessage(connection_.get()));
    if (take()) return true;
    const double left = std::chrono::duration<double>(until - SteadyClock::now()).count();
    if (left <= 0.0) return false;
    pollfd file{.fd = PQsocket(connection_.get()), .events = POLLIN, .revents = 0};
    if (::poll(&file, 1, static_cast<int>(std::ceil(left * 1e3))) < 0 && errno == EINTR) return false;
  }
}

bool PostgresConnection::is_encrypted() {
  require_connection();
  return PQsslInUse(connection_.get()) != 0;
}

bool PostgresConnection::is_local() {
  require_connection();
  const std::string host = PQhost(connection_.get());
  const char* address = PQhostaddr(connection_.get());
  const std::string_view place = address ? address : "";
  return host.starts_with('/') || host.starts_with('@') || place.starts_with("127.") || place == "::1";
}

int PostgresConnection::server_version() {
  require_connection();
  return PQserverVersion(connection_.get());
}

bool PostgresConnection::used_password() {
  require_connection();
  return PQconnectionUsedPassword(connection_.get()) != 0;
}

}  // namespace bapi

#else

namespace bapi {
namespace {

[[noreturn]] void refuse() {
  throw StoreError(
      "this bapi was built without PostgreSQL, so that it opens studies in directories only. Install libpq-dev and "
      "build it again");
}

}  // namespace

void SqlRows::Clear::operator()(pg_result*) const {}
int SqlRows::size() const { refuse(); }
bool SqlRows::is_null(int, int) const { refuse(); }
unsigned SqlRows::type(int) const { refuse(); }
std::string_view SqlRows::bytes(int, int) const { refuse(); }
std::int64_t SqlRows::integer(int, int) const { refuse(); }
double SqlRows::number(int, int) const { refuse(); }
double SqlRows::instant(int, int) const { refuse(); }
std::string_view SqlRows::text(int, int) const { refuse(); }
std::optional<double> SqlRows::optional_number(int, int) const { refuse(); }
std::optional<std::int64_t> SqlRows::optional_integer(int, int) const { refuse(); }
std::optional<std::string> SqlRows::optional_text(int, int) const { refuse(); }

void PostgresConnection::Finish::operator()(pg_conn*) const {}
PostgresConnection::PostgresConnection(DatabaseUrl url, ConnectionOptions) : url_(std::move(url)), owner_(0) {
  refuse();
}
PostgresConnection::~PostgresConnection() = default;
void PostgresConnection::close() {}
bool PostgresConnection::is_anothers() const { return false; }
SqlRows PostgresConnection::run(const std::string&, const std::vector<SqlValue>&) { refuse(); }
void PostgresConnection::execute(const std::string&) { refuse(); }
bool PostgresConnection::wait_for_notice(double) { refuse(); }
bool PostgresConnection::is_encrypted() { refuse(); }
bool PostgresConnection::is_local() { refuse(); }
int PostgresConnection::server_version() { refuse(); }
bool PostgresConnection::used_password() { refuse(); }

}  // namespace bapi

#endif

namespace bapi {

bool has_postgres() {
#ifdef BAPI_HAS_LIBPQ
  return true;
#else
  return false;
#endif
}

SqlRows PostgresConnection::run_again(const std::string& sql, const std::vector<SqlValue>& parameters) {
  try {
    return run(sql, parameters);
  } catch (const ConnectionLost&) {
    return run(sql, parameters);
  }
}

// ---- PostgresTransaction

PostgresTransaction::PostgresTransaction(PostgresConnection& db) : db_(db) {
  db_.execute("BEGIN");
  generation_ = db_.generation();
}

// A connection that is gone has rolled back by itself.
PostgresTransaction::~PostgresTransaction() {
  if (!open_ || !db_.is_connected() || db_.generation() != generation_) return;
  try {
    db_.execute("ROLLBACK");
  } catch (const Error&) {
    db_.close();
  }
}

void PostgresTransaction::commit() {
  check(db_.generation() == generation_, "postgres: the connection of this transaction is gone");
  open_ = false;
  db_.execute("COMMIT");
}

}  // namespace bapi
