#include "bapi/store/sqlite_connection.h"

#include <gtest/gtest.h>

#include <string>

#include "bapi/base/error.h"
#include "bapi/store/new_file.h"
#include "tests/support/temp_dir.h"

namespace bapi {
namespace {

using test::TempDir;

class ConnectionTest : public testing::Test {
 protected:
  ConnectionTest() {
    Connection draft(file(), OpenMode::memory);
    draft.execute("CREATE TABLE t (n INTEGER PRIMARY KEY, text TEXT)");
    make_file(file(), draft.image());
  }

  std::filesystem::path file() const { return directory_ / "t.db"; }

  static std::int64_t rows(Connection& db) { return db.query_integer("SELECT count(*) FROM t"); }

 private:
  TempDir directory_;
};

TEST_F(ConnectionTest, AnImageIsADatabaseInWalMode) {
  Connection db(file(), OpenMode::read_write);
  EXPECT_EQ(db.query_text("PRAGMA journal_mode"), "wal");
  EXPECT_EQ(db.query_text("PRAGMA integrity_check"), "ok");
}

TEST_F(ConnectionTest, ATransactionThatWasNotCommittedLeavesNothing) {
  Connection db(file(), OpenMode::read_write);
  {
    Transaction transaction(db);
    db.execute("INSERT INTO t (text) VALUES ('a')");
  }
  EXPECT_EQ(rows(db), 0);
  {
    Transaction transaction(db);
    db.execute("INSERT INTO t (text) VALUES ('a')");
    transaction.commit();
  }
  EXPECT_EQ(rows(db), 1);
}

TEST_F(ConnectionTest, BoundValuesComeBack) {
  Connection db(file(), OpenMode::read_write);
  const std::string text("a\0b", 3);
  Statement insert(db, "INSERT INTO t (n, text) VALUES (?1, ?2)");
  insert.bind(1, std::int64_t{1} << 40);
  insert.bind(2, std::string_view(text));
  insert.run();
  Statement select(db, "SELECT n, text, n * 0.5, NULL FROM t");
  ASSERT_TRUE(select.next());
  EXPECT_EQ(select.integer(0), std::int64_t{1} << 40);
  EXPECT_EQ(select.text(1), text);
  EXPECT_EQ(select.number(2), static_cast<double>(std::int64_t{1} << 39));
  EXPECT_TRUE(select.is_null(3));
  EXPECT_FALSE(select.next());
}

TEST_F(ConnectionTest, AFullDatabaseSaysSoAndGoesOnOnceThereIsRoom) {
  Connection db(file(), OpenMode::read_write);
  db.execute("PRAGMA max_page_count = 4");
  Statement insert(db, "INSERT INTO t (text) VALUES (?1)");
  const std::string page(4000, 'x');
  const auto fill = [&] {
    Transaction transaction(db);
    for (int i = 0; i < 10; ++i) {
      insert.bind(1, std::string_view(page));
      insert.run();
    }
    transaction.commit();
  };
  try {
    fill();
    FAIL() << "the limit had no effect";
  } catch (const StoreError& error) {
    EXPECT_NE(std::string(error.what()).find(file().string() + ": the disk is full"), std::string::npos);
  }
  EXPECT_EQ(rows(db), 0);
  db.execute("PRAGMA max_page_count = 1000");
  fill();
  EXPECT_EQ(rows(db), 10);
}

TEST_F(ConnectionTest, AWriterWaitsForAnotherAndThenGivesUp) {
  Connection first(file(), OpenMode::read_write);
  Connection second(file(), OpenMode::read_write);
  second.execute("PRAGMA busy_timeout = 50");
  const Transaction transaction(first);
  try {
    const Transaction other(second);
    FAIL() << "two writers";
  } catch (const StoreError& error) {
    EXPECT_NE(std::string(error.what()).find("another process has kept it locked"), std::string::npos);
  }
}

TEST_F(ConnectionTest, OpeningNeverCreatesAFile) {
  const std::filesystem::path other = file().parent_path() / "other.db";
  EXPECT_THROW(Connection(other, OpenMode::read_write), StoreError);
  EXPECT_THROW(Connection(other, OpenMode::read_only), StoreError);
  EXPECT_FALSE(std::filesystem::exists(other));
}

}  // namespace
}  // namespace bapi
