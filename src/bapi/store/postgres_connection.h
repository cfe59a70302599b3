#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "bapi/base/file.h"
#include "bapi/store/database_url.h"

struct pg_conn;
struct pg_result;

namespace bapi {

// The connection could not be made, broke, or was silent for too long. Whether the last statement was carried out is
// not known; the next one makes a new connection.
class ConnectionLost : public Shortage {
 public:
  using Shortage::Shortage;
};

// Seconds since the Unix epoch; databases keep instants to the microsecond.
struct Instant {
  double seconds = 0.0;
};

// What may stand for $1, $2, ...: numbers travel as they are in memory, to the last bit. Texts must live until the
// statement was run. A vector is an array; a missing element is NULL.
template <typename T>
using SqlArray = std::vector<std::optional<T>>;
using SqlValue = std::variant<std::nullptr_t,
                              std::int64_t,
                              double,
                              std::string_view,
                              Instant,
                              SqlArray<std::int64_t>,
                              SqlArray<double>,
                              SqlArray<std::string>>;

// The result of a statement; rows and columns count from 0. LogicError if a column is of another type.
class SqlRows {
 public:
  explicit SqlRows(pg_result* result) : result_(result) {}

  int size() const;
  bool empty() const { return size() == 0; }
  bool is_null(int row, int column) const;
  std::int64_t integer(int row, int column) const;  // int2, int4, int8, bool
  double number(int row, int column) const;         // float4, float8
  double instant(int row, int column) const;        // timestamptz, in seconds since the Unix epoch
  std::string_view text(int row, int column) const;
  std::optional<double> optional_number(int row, int column) const;
  std::optional<std::int64_t> optional_integer(int row, int column) const;
  std::optional<std::string> optional_text(int row, int column) const;

 private:
  struct Clear {
    void operator()(pg_result* result) const;
  };
  std::string_view bytes(int row, int column) const;
  unsigned type(int column) const;

  std::unique_ptr<pg_result, Clear> result_;
};

struct ConnectionOptions {
  std::string name = "bapi";  // by which the server knows it
  double patience = 10.0;     // seconds in which a connection must be made
  double silence = 15.0;      // seconds without a word from the server after which a connection counts as lost
  std::string set_up = {};    // SQL for every new connection, for example SET
};

// One connection to a PostgreSQL database, for one thread at a time, made when it is first needed and again after it
// was lost. The only file that knows libpq is its .cc. Everything that fails throws StoreError with the address of the
// database, never its password, and what to do about it: ConnectionLost, or another Shortage if the same may succeed
// later (full, read-only, too many connections), else StoreError itself.
//
// A child that was forked has a copy that says nothing to the server, also when it is destroyed.
class PostgresConnection {
 public:
  // Does not connect. StoreError if this program was built without PostgreSQL.
  explicit PostgresConnection(DatabaseUrl url, ConnectionOptions options = {});
  PostgresConnection(const PostgresConnection&) = delete;
  PostgresConnection& operator=(const PostgresConnection&) = delete;
  ~PostgresConnection();

  const DatabaseUrl& url() const { return url_; }

  // One statement with its parameters: a transaction of its own, unless one was begun.
  SqlRows run(const std::string& sql, const std::vector<SqlValue>& parameters = {});

  // The same for a statement that does no harm if it is carried out twice: tried once more if the connection turns out
  // to be lost, as one is that the server has closed meanwhile.
  SqlRows run_again(const std::string& sql, const std::vector<SqlValue>& parameters = {});

  // Several statements, without parameters, as one transaction.
  void execute(const std::string& script);

  // How many connections were made so far: locks and the like of an earlier one are gone.
  int generation() const { return generation_; }
  bool is_connected() const { return connection_ != nullptr && !is_anothers(); }
  void close();

  // Waits up to `seconds` for a NOTIFY on a channel that this connection listens to; whether there was one. All that
  // arrived are taken. Notifications get lost with the connection: they are hints.
  bool wait_for_notice(double seconds);

  // Whether passwords and data cross the network in plain text; the server's version, as 150018.
  bool is_encrypted();
  bool is_local();  // a Unix socket, or an address of this machine
  int server_version();
  bool used_password();

 private:
  struct Finish {
    void operator()(pg_conn* connection) const;
  };
  bool is_anothers() const;  // a copy in a forked child: the connection is its parent's
  void connect();
  void require_connection();
  pg_result* answer(const std::function<int()>& send);
  void flush();
  void wait_for(short events, double seconds);
  [[noreturn]] void lose(const std::string& reason);
  [[noreturn]] void fail(const std::string& state, const std::string& message);

  DatabaseUrl url_;
  ConnectionOptions options_;
  std::unique_ptr<pg_conn, Finish> connection_;
  int generation_ = 0;
  int owner_;  // process id
};

// Nothing happened unless `commit` was reached.
class PostgresTransaction {
 public:
  explicit PostgresTransaction(PostgresConnection& db);
  ~PostgresTransaction();
  PostgresTransaction(const PostgresTransaction&) = delete;
  PostgresTransaction& operator=(const PostgresTransaction&) = delete;
  void commit();

 private:
  PostgresConnection& db_;
  int generation_;
  bool open_ = true;
};

// Whether this program can use PostgreSQL at all.
bool has_postgres();

}  // namespace bapi
