#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>

#include "bapi/store/database_clock.h"
#include "bapi/store/dispatch.h"
#include "bapi/store/postgres_connection.h"

namespace bapi {

// The connection of a leader: one that says nothing for `silence` seconds is ended by the server, and its lock with it.
std::shared_ptr<PostgresConnection> leader_connection(const DatabaseUrl& url, double silence = kLeaderSilence);

// Who leads a study of a database: an advisory lock of the connection that does all the writing, and a term that grows
// with every change. Writes are guarded by the term, so that a lock that was lost unnoticed does no harm.
class PostgresLead : public Leadership, public LeaderDispatch {
 public:
  // StoreError that names the leader if there is one. `study` is the number of its row, `version` that of the program;
  // what leads is this process.
  static std::unique_ptr<PostgresLead> take(std::shared_ptr<PostgresConnection> db,
                                            std::int64_t study,
                                            const std::string& version);
  static std::optional<Leader> leader(PostgresConnection& db, std::int64_t study);

  ~PostgresLead() override;
  PostgresLead(const PostgresLead&) = delete;
  PostgresLead& operator=(const PostgresLead&) = delete;

  void check_held() const override;
  void sign_of_life() override;

  Board read() override;
  std::vector<WorkOrder> orders() override;
  Pace pace() override;
  void set_pace(const Pace& pace) override;
  std::vector<WorkOrder> put_all(std::span<const WorkOrder> orders) override;
  void settle_with_next_append(const Settlement& settlement) override;
  void settle() override;
  std::optional<WorkerRecord> declare_lost(WorkerId worker) override;
  void set_aside(WorkerId worker) override;
  bool wait(double seconds) override;

  std::int64_t term() const { return term_; }
  PostgresConnection& connection() const { return *db_; }
  const DatabaseClock& clock() const { return clock_; }  // the server's, sampled with signs of life

  // How many events the log has held, as was read or acknowledged. A sign of life throws LogWentBack if it holds fewer.
  void has_seen(EventSeq last) { seen_ = last; }
  void check_log() const;  // throws the same

  // What the next append has to take along, and that it did.
  const Settlement& pending() const { return pending_; }
  void settled() { pending_ = {}; }

 private:
  PostgresLead(std::shared_ptr<PostgresConnection> db, std::int64_t study) : db_(std::move(db)), study_(study) {}
  bool try_to_take(const std::string& version);
  void keep_lock();
  SqlRows guarded(const std::string& sql, std::vector<SqlValue> parameters = {}) const;
  [[noreturn]] void refuse_lost() const;
  [[noreturn]] void refuse_older_log() const;

  std::shared_ptr<PostgresConnection> db_;
  std::int64_t study_;
  std::int64_t term_ = 0;
  EventSeq seen_ = 0;
  int locked_ = 0;     // the connection that holds the lock
  int listening_ = 0;  // the connection that listens
  double last_sign_ = -1e18;
  SystemClock local_;
  DatabaseClock clock_{local_};
  Settlement pending_;
};

// What the statement that settles needs: CTEs that refer to `mine (id)`, and their parameters, the first being
// $`first`.
struct SettlementSql {
  std::string ctes;
  std::vector<SqlValue> parameters;
};
SettlementSql sql_of(const Settlement& settlement, int first);

// The worker's side, over a connection of its own.
class PostgresWorkerDispatch : public WorkerDispatch {
 public:
  PostgresWorkerDispatch(std::shared_ptr<PostgresConnection> db, std::int64_t study)
      : db_(std::move(db)), study_(study) {}

  Joined join(const WorkerCard& card) override;  // InvalidInput if the leader's version is another
  Receipt deliver(WorkerId worker, const Delivery& delivery) override;
  Instructions look(WorkerId worker) const override;
  void change_state(WorkerId worker, WorkerState state) override;
  bool wait(WorkerId worker, double seconds) override;

 private:
  std::shared_ptr<PostgresConnection> db_;
  std::int64_t study_;
  std::map<WorkerId, int> listening_;  // by which connection
};

// Of all workers of a study, whatever became of them, the newest last; for those who look.
std::vector<WorkerRecord> workers_of(PostgresConnection& db, std::int64_t study);
std::vector<WorkOrder> orders_of(PostgresConnection& db, std::int64_t study);  // by trial
double server_time(PostgresConnection& db);

}  // namespace bapi
