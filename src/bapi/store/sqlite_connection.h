#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>

struct sqlite3;
struct sqlite3_stmt;

namespace bapi {

class Connection;

// A prepared statement. Parameters count from 1, columns from 0. Everything that fails throws StoreError with the path
// of the database and what to do about it.
class Statement {
 public:
  Statement(Connection& db, std::string_view sql);

  void bind(int parameter, std::int64_t number);
  void bind(int parameter, double number);
  // The text must live until the statement has been run.
  void bind(int parameter, std::string_view text);
  void bind_null(int parameter);

  // Runs a statement that returns no rows.
  void run();

  // The next row, if there is one. After the last, or after `reset`, the statement starts again.
  bool next();
  void reset();

  bool is_null(int column) const;
  std::int64_t integer(int column) const;
  double number(int column) const;
  std::string_view text(int column) const;  // valid until the next call of `next` or `reset`

 private:
  struct Finalize {
    void operator()(sqlite3_stmt* statement) const;
  };
  Connection* db_;
  std::unique_ptr<sqlite3_stmt, Finalize> statement_;
};

// Rewinds a statement at the end of a scope, so that no read transaction outlives it.
class ResetAtEnd {
 public:
  explicit ResetAtEnd(Statement& statement) : statement_(statement) {}
  ~ResetAtEnd() { statement_.reset(); }
  ResetAtEnd(const ResetAtEnd&) = delete;
  ResetAtEnd& operator=(const ResetAtEnd&) = delete;

 private:
  Statement& statement_;
};

enum class OpenMode {
  read_only,
  read_write,  // never creates a file
  memory,      // an empty database of its own; the path is for messages
};

// When a commit is safe from a power cut: at the next one that is `full`, or before it returns.
enum class CommitSync { normal, full };

// One connection to an SQLite database, for one thread at a time. The only file that knows SQLite is its .cc.
class Connection {
 public:
  Connection(const std::filesystem::path& file, OpenMode mode);
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;
  ~Connection();

  const std::filesystem::path& file() const { return file_; }

  void execute(const std::string& sql);
  std::int64_t query_integer(const std::string& sql);
  std::string query_text(const std::string& sql);

  void set_commit_sync(CommitSync sync);

  // Whether the file was removed or replaced since it was opened: what is written now goes where nobody finds it.
  bool has_moved() const;

  // The bytes of the database as a file in WAL mode.
  std::string image() const;

 private:
  friend class Statement;
  friend class Transaction;

  struct Close {
    void operator()(sqlite3* db) const;
  };
  void open(const std::string& name, int flags);
  void open_read_only();
  void begin();
  void commit();
  void roll_back() noexcept;
  [[noreturn]] void fail(int code) const;

  std::filesystem::path file_;
  std::unique_ptr<sqlite3, Close> db_;
  CommitSync sync_ = CommitSync::full;
  std::unique_ptr<Statement> begin_;
  std::unique_ptr<Statement> commit_;
};

// Nothing happened unless `commit` was reached. Writers wait for each other at the door.
class Transaction {
 public:
  explicit Transaction(Connection& db);
  ~Transaction();
  Transaction(const Transaction&) = delete;
  Transaction& operator=(const Transaction&) = delete;
  void commit();

 private:
  Connection& db_;
  bool open_ = true;
};

}  // namespace bapi
