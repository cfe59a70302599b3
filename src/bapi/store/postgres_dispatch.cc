#include "bapi/store/postgres_dispatch.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <thread>

#include "bapi/base/error.h"
#include "bapi/base/host.h"

namespace bapi {
namespace {

// Of advisory locks, with the number of the study: "bapi" in ASCII.
constexpr const char* kLockClass = "1650552937";

// How long the lock of a leader that has just ended is waited for.
constexpr int kAttemptsToLead = 10;
constexpr std::chrono::milliseconds kBetweenAttemptsToLead{50};

constexpr const char* kPresent = "IN ('live', 'set aside', 'leaving')";

double monotonic() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

std::string this_process() { return fmt::format("{} {}", ::getpid(), host_name()); }

Leader leader_of(std::string_view text) {
  Leader leader;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), leader.pid);
  if (error != std::errc() || end == text.data() + text.size()) return {};
  leader.host = text.substr(static_cast<std::size_t>(end - text.data()) + 1);
  return leader;
}

template <typename T>
T value_of(std::string_view word) {
  const auto found = value_named<T>(word);
  if (!found) throw StoreError(fmt::format("the database holds the word '{}', which means nothing here", word));
  return *found;
}

// The columns of a worker as `kWorkerColumns` lists them, the first at `column`.
constexpr const char* kWorkerColumns =
    "w.id, w.host, w.pid, w.job, w.version, w.slots, w.state, w.joined, w.lease_until, w.train_until, w.delivered, "
    "w.busy, w.failures";

WorkerRecord worker_in(const SqlRows& rows, int row, int column) {
  return {
      .id = WorkerId{rows.integer(row, column)},
      .card = {.host = std::string(rows.text(row, column + 1)),
               .pid = static_cast<int>(rows.integer(row, column + 2)),
               .job = std::string(rows.text(row, column + 3)),
               .version = std::string(rows.text(row, column + 4)),
               .slots = static_cast<int>(rows.integer(row, column + 5))},
      .state = value_of<WorkerState>(rows.text(row, column + 6)),
      .joined = rows.instant(row, column + 7),
      .lease_until = rows.instant(row, column + 8),
      .train_until = rows.instant(row, column + 9),
      .delivered = rows.integer(row, column + 10),
      .tally = {.busy = rows.number(row, column + 11), .failures = static_cast<int>(rows.integer(row, column + 12))}};
}

constexpr const char* kOrderColumns = "o.trial, o.worker, o.number, o.command, o.segment_json, o.seen, o.charged_until";

WorkOrder order_in(const SqlRows& rows, int row, int column) {
  return {.trial = TrialId{rows.integer(row, column)},
          .worker = WorkerId{rows.integer(row, column + 1)},
          .number = rows.integer(row, column + 2),
          .command = value_of<OrderCommand>(rows.text(row, column + 3)),
          .segment = decode_segment(rows.text(row, column + 4)),
          .seen = rows.integer(row, column + 5),
          .charged_until = rows.instant(row, column + 6)};
}

// What cannot be read says nothing: it must not keep the leader from what the others say.
Delivery delivery_in(const SqlRows& rows, int row, int column, std::int64_t number) {
  try {
    Delivery delivery = decode_delivery(rows.text(row, column));
    delivery.number = number;
    return delivery;
  } catch (const InvalidInput&) {
    return {.number = number};
  }
}

Grant grant_in(const SqlRows& rows, int column) {
  const double now = rows.instant(0, column + 2);
  return {.lease = rows.instant(0, column) - now, .train = rows.instant(0, column + 1) - now, .now = now};
}

// Whether the leader has something to decide: not so for measurements alone.
bool is_urgent(const Delivery& delivery) {
  return std::ranges::any_of(delivery.facts, [](const Event& e) { return !std::holds_alternative<Measured>(e); }) ||
         std::ranges::any_of(delivery.standings, [](const TrialStanding& standing) { return standing.ended; });
}

// Waits for a notification. A connection that is lost meanwhile is noticed by the next call that matters.
bool wait_for_hint(PostgresConnection& db, int& listening, const std::string& channel, double seconds) {
  const double until = monotonic() + seconds;
  try {
    if (!db.is_connected() || listening != db.generation()) {
      db.execute("LISTEN " + channel);
      listening = db.generation();
      return true;  // what was said before is to be looked for
    }
    return db.wait_for_notice(until - monotonic());
  } catch (const StoreError&) {
    std::this_thread::sleep_for(std::chrono::duration<double>(std::max(0.0, until - monotonic())));
    return false;
  }
}

}  // namespace

std::shared_ptr<PostgresConnection> leader_connection(const DatabaseUrl& url, double silence) {
  return std::make_shared<PostgresConnection>(
      url,
      ConnectionOptions{.name = "bapi leader",
                        .set_up = fmt::format("SET idle_session_timeout = '{:.0f}ms';", silence * 1e3)});
}

// ---- PostgresLead

std::unique_ptr<PostgresLead> PostgresLead::take(std::shared_ptr<PostgresConnection> db,
                                                 std::int64_t study,
                                                 const std::string& version) {
  std::unique_ptr<PostgresLead> lead(new PostgresLead(std::move(db), study));
  for (int attempt = 0; attempt < kAttemptsToLead; ++attempt) {
    if (attempt > 0) std::this_thread::sleep_for(kBetweenAttemptsToLead);
    if (lead->try_to_take(version)) return lead;
  }
  PostgresConnection& there = lead->connection();
  const std::optional<Leader> holder = leader(there, study);
  const std::string place = there.url().shown();
  if (!holder || holder->pid == 0) throw StoreError(fmt::format("{}: another bapi leads this study already", place));
  throw StoreError(fmt::format(
      "{}: process {} on {} leads this study already. Watch it with `bapi status`, or end it with `kill -INT "
      "{}` there and run again",
      place,
      holder->pid,
      holder->host,
      holder->pid));
}

// Lock and term in one statement: a connection that is lost in between leaves neither. A term is a number of
// milliseconds, so that no term is given twice, not even by a database that fell back and has forgotten the last one.
// Workers of another version join anew, as they do when the specification was changed, and are refused then.
bool PostgresLead::try_to_take(const std::string& version) {
  const double sent = local_.calendar();
  const SqlRows rows =
      db_->run(fmt::format("UPDATE bapi.study SET term = greatest(term + 1, (extract(epoch FROM clock_timestamp()) * "
                           "1000)::bigint), leader = $2, version = coalesce(nullif($3, ''), "
                           "version), spec_version = spec_version + (version <> '' AND $3 <> '' AND version <> "
                           "$3)::int, leader_seen = clock_timestamp() "
                           "WHERE id = $1 AND pg_try_advisory_lock({}, $1::int) RETURNING term, clock_timestamp()",
                           kLockClass),
               {study_, std::string_view(this_process()), std::string_view(version)});
  if (rows.empty()) return false;
  term_ = rows.integer(0, 0);
  locked_ = db_->generation();
  clock_.sample(rows.instant(0, 1), sent, local_.calendar());
  return true;
}

std::optional<Leader> PostgresLead::leader(PostgresConnection& db, std::int64_t study) {
  const SqlRows rows = db.run_again(
      fmt::format(
          "SELECT coalesce(s.leader, ''), s.term FROM bapi.study s WHERE s.id = $1 AND EXISTS (SELECT FROM pg_locks l "
          "JOIN pg_database d ON d.oid = l.database WHERE l.locktype = 'advisory' AND l.classid = {} "
          "AND l.objid = $1 AND l.objsubid = 2 AND l.granted AND d.datname = current_database())",
          kLockClass),
      {study});
  if (rows.empty()) return std::nullopt;
  Leader leader = leader_of(rows.text(0, 0));
  leader.since = 1e-3 * static_cast<double>(rows.integer(0, 1));  // a term is the time when it began
  return leader;
}

PostgresLead::~PostgresLead() {
  if (term_ == 0 || !db_->is_connected() || db_->generation() != locked_) return;
  try {
    db_->run("UPDATE bapi.study SET leader = NULL WHERE id = $1 AND term = $2", {study_, term_});
    db_->execute("SELECT pg_advisory_unlock_all()");
  } catch (const Error&) {
    db_->close();  // with the lock
  }
}

void PostgresLead::refuse_lost() const {
  const SqlRows rows = db_->run_again("SELECT 1 FROM bapi.study WHERE id = $1 AND term > $2", {study_, term_});
  if (rows.empty()) refuse_older_log();
  throw LeadershipLost(
      fmt::format("{}: another process leads this study now, because this one was silent for {:.0f} s. This "
                  "one writes nothing more; the other continues its trials",
                  db_->url().shown(),
                  kLeaderSilence));
}

void PostgresLead::refuse_older_log() const {
  throw LogWentBack(
      fmt::format("{}: the database has forgotten the end of the log, as one does that was restored from a copy or "
                  "took the place of "
                  "another. What was trained since is trained again",
                  db_->url().shown()));
}

void PostgresLead::check_log() const {
  const SqlRows rows = db_->run_again("SELECT 1 FROM bapi.study WHERE id = $1 AND last_seq >= $2", {study_, seen_});
  if (rows.empty()) refuse_older_log();
}

void PostgresLead::check_held() const {
  const SqlRows rows = db_->run_again("SELECT 1 FROM bapi.study WHERE id = $1 AND term = $2", {study_, term_});
  if (rows.empty()) refuse_lost();
}

// A statement that begins with the row of the study, which nobody else can take over meanwhile.
SqlRows PostgresLead::guarded(const std::string& sql, std::vector<SqlValue> parameters) const {
  parameters.insert(parameters.begin(), {study_, term_});
  SqlRows rows = db_->run_again("WITH mine AS (SELECT id FROM bapi.study WHERE id = $1 AND term = $2 FOR SHARE)" + sql,
                                parameters);
  if (rows.empty()) refuse_lost();
  return rows;
}

// A lock that went with a lost connection is taken again; while the server has not noticed the loss of the old one, it
// is held by that.
void PostgresLead::keep_lock() {
  if (locked_ == db_->generation()) return;
  const SqlRows rows = db_->run_again(fmt::format("SELECT pg_try_advisory_lock({}, $1::int)", kLockClass), {study_});
  if (rows.integer(0, 0) == 1) locked_ = db_->generation();
}

void PostgresLead::sign_of_life() {
  if (monotonic() - last_sign_ < 1.0) return;
  const double sent = local_.calendar();
  const SqlRows rows = db_->run_again(
      "UPDATE bapi.study SET leader_seen = clock_timestamp() WHERE id = $1 AND term = $2 RETURNING clock_timestamp(), "
      "last_seq",
      {study_, term_});
  if (rows.empty()) refuse_lost();
  if (rows.integer(0, 1) < seen_) refuse_older_log();
  if (clock_.wants_sample()) clock_.sample(rows.instant(0, 0), sent, local_.calendar());
  keep_lock();
  last_sign_ = monotonic();
}

Board PostgresLead::read() {
  const SqlRows rows = db_->run_again(
      fmt::format("SELECT s.term, clock_timestamp(), d.number, d.at, d.delivery_json, {} FROM bapi.study s "
                  "LEFT JOIN bapi.worker w ON w.study = s.id LEFT JOIN bapi.delivery d ON d.worker = w.id "
                  "WHERE s.id = $1 AND (w.id IS NULL OR w.state {} OR d.worker IS NOT NULL OR EXISTS "
                  "(SELECT FROM bapi.work_order o WHERE o.worker = w.id)) ORDER BY w.id, d.number",
                  kWorkerColumns,
                  kPresent),
      {study_});
  Board board;
  if (rows.empty()) {  // only workers that are gone
    board.now = guarded(" SELECT clock_timestamp() FROM mine").instant(0, 0);
    return board;
  }
  if (rows.integer(0, 0) != term_) refuse_lost();
  board.now = rows.instant(0, 1);
  constexpr int kWorker = 5;
  for (int row = 0; row < rows.size(); ++row) {
    if (rows.is_null(row, kWorker)) continue;
    const WorkerId worker{rows.integer(row, kWorker)};
    if (board.workers.empty() || board.workers.back().id != worker) {
      board.workers.push_back(worker_in(rows, row, kWorker));
    }
    if (rows.is_null(row, 2)) continue;
    board.deliveries.push_back(
        {.worker = worker, .at = rows.instant(row, 3), .delivery = delivery_in(rows, row, 4, rows.integer(row, 2))});
  }
  std::ranges::sort(board.deliveries, {}, [](const StoredDelivery& stored) {
    return std::tuple(stored.at, stored.worker, stored.delivery.number);
  });
  return board;
}

std::vector<WorkOrder> PostgresLead::orders() {
  const SqlRows rows = db_->run_again(fmt::format("SELECT s.term, {} FROM bapi.study s LEFT JOIN bapi.work_order o "
                                                  "ON o.study = s.id WHERE s.id = $1 ORDER BY o.trial",
                                                  kOrderColumns),
                                      {study_});
  if (rows.empty() || rows.integer(0, 0) != term_) refuse_lost();
  std::vector<WorkOrder> orders;
  for (int row = 0; row < rows.size(); ++row) {
    if (!rows.is_null(row, 1)) orders.push_back(order_in(rows, row, 1));
  }
  return orders;
}

Pace PostgresLead::pace() {
  const SqlRows rows = guarded(" SELECT p.lease, p.stop_at, p.phase FROM mine JOIN bapi.pace p ON p.study = mine.id");
  Pace pace{.lease = rows.number(0, 0), .phase = value_of<StudyPhase>(rows.text(0, 2))};
  if (!rows.is_null(0, 1)) pace.stop_at = rows.instant(0, 1);
  return pace;
}

void PostgresLead::set_pace(const Pace& pace) {
  const SqlValue stop_at = pace.stop_at ? SqlValue(Instant{*pace.stop_at}) : SqlValue(nullptr);
  guarded(
      " UPDATE bapi.pace p SET lease = $3, stop_at = $4::timestamptz, phase = $5 FROM mine WHERE p.study = mine.id "
      "RETURNING p.study",
      {pace.lease, stop_at, word(pace.phase)});
}

std::vector<WorkOrder> PostgresLead::put_all(std::span<const WorkOrder> orders) {
  SqlArray<std::int64_t> trials;
  SqlArray<std::int64_t> workers;
  SqlArray<std::string> commands;
  SqlArray<std::string> segments;
  SqlArray<std::int64_t> seen;
  for (const WorkOrder& order : orders) {
    trials.emplace_back(index(order.trial));
    workers.emplace_back(index(order.worker));
    commands.emplace_back(word(order.command));
    segments.emplace_back(encode(order.segment));
    seen.emplace_back(order.seen);
  }
  const SqlRows rows = db_->run_again(
      "WITH mine AS (UPDATE bapi.study SET last_order = last_order + $3 WHERE id = $1 AND term = $2 "
      "RETURNING id, last_order - $3 AS before), written AS (INSERT INTO bapi.work_order AS o "
      "(study, trial, worker, number, command, segment_json, seen, charged_until) "
      "SELECT mine.id, g.trial, g.worker, mine.before + g.n, g.command, g.segment, g.seen, clock_timestamp() FROM "
      "mine, "
      "unnest($4::bigint[], $5::bigint[], $6::text[], $7::text[], $8::bigint[]) WITH ORDINALITY "
      "AS g (trial, worker, command, segment, seen, n) "
      "ON CONFLICT (study, trial) DO UPDATE SET number = excluded.number, command = excluded.command, "
      "segment_json = excluded.segment_json, seen = excluded.seen WHERE o.worker = excluded.worker "
      "RETURNING worker, number, charged_until) "
      "SELECT number, charged_until, pg_notify('bapi_worker_' || worker, '')::text FROM written ORDER BY number",
      {study_, term_, static_cast<std::int64_t>(orders.size()), trials, workers, commands, segments, seen});
  if (rows.size() != std::ssize(orders)) {
    check_held();
    throw LogicError("PostgresLead: another worker holds the trial");
  }
  std::vector<WorkOrder> written(orders.begin(), orders.end());
  for (int row = 0; row < rows.size(); ++row) {
    written[static_cast<std::size_t>(row)].number = rows.integer(row, 0);
    written[static_cast<std::size_t>(row)].charged_until = rows.instant(row, 1);
  }
  return written;
}

void PostgresLead::settle_with_next_append(const Settlement& settlement) { pending_.add(settlement); }

void PostgresLead::settle() {
  if (pending_.empty()) return;
  SettlementSql sql = sql_of(pending_, 3);
  guarded(sql.ctes + " SELECT id FROM mine", std::move(sql.parameters));
  settled();
}

std::optional<WorkerRecord> PostgresLead::declare_lost(WorkerId worker) {
  guarded(fmt::format(", lost AS (UPDATE bapi.worker w SET state = 'lost' FROM mine WHERE w.id = $3 AND w.study = "
                      "mine.id AND w.state {} AND w.lease_until <= clock_timestamp()) SELECT id FROM mine",
                      kPresent),
          {index(worker)});
  const SqlRows rows = db_->run_again(fmt::format("SELECT {} FROM bapi.worker w WHERE w.id = $1 AND w.study = $2 "
                                                  "AND w.state = 'lost'",
                                                  kWorkerColumns),
                                      {index(worker), study_});
  if (rows.empty()) return std::nullopt;
  return worker_in(rows, 0, 0);
}

void PostgresLead::set_aside(WorkerId worker) {
  guarded(
      ", aside AS (UPDATE bapi.worker w SET state = 'set aside' FROM mine WHERE w.id = $3 AND w.study = mine.id "
      "AND w.state = 'live') SELECT id FROM mine",
      {index(worker)});
}

bool PostgresLead::wait(double seconds) {
  return wait_for_hint(*db_, listening_, fmt::format("bapi_leader_{}", study_), seconds);
}

// ---- settling

// A trial whose order ends is not charged as well: one statement changes a row once.
SettlementSql sql_of(const Settlement& settlement, int first) {
  SqlArray<std::int64_t> workers;
  SqlArray<std::int64_t> numbers;
  for (const Settlement::Taken& taken : settlement.taken) {
    workers.emplace_back(index(taken.worker));
    numbers.emplace_back(taken.number);
  }
  std::map<TrialId, double> last;
  for (const Settlement::Charged& charged : settlement.charged) last[charged.trial] = charged.until;
  SqlArray<std::int64_t> charged_trials;
  SqlArray<double> until;
  for (const auto& [trial, instant] : last) {
    charged_trials.emplace_back(index(trial));
    until.emplace_back(instant);
  }
  SqlArray<std::int64_t> ended_trials;
  SqlArray<std::int64_t> orders;
  for (const Settlement::Ended& ended : settlement.ended) {
    ended_trials.emplace_back(index(ended.trial));
    orders.emplace_back(ended.order);
  }
  return {
      .ctes = fmt::format(
          ", taken AS (DELETE FROM bapi.delivery d USING mine, unnest(${0}::bigint[], ${1}::bigint[]) AS t (worker, "
          "number) WHERE d.study = mine.id AND d.worker = t.worker AND d.number = t.number), "
          "charged AS (UPDATE bapi.work_order o SET charged_until = to_timestamp(c.until) FROM mine, "
          "unnest(${2}::bigint[], ${3}::float8[]) AS c (trial, until) WHERE o.study = mine.id AND o.trial = c.trial "
          "AND NOT EXISTS (SELECT FROM unnest(${4}::bigint[], ${5}::bigint[]) AS e (trial, number) "
          "WHERE e.trial = o.trial AND e.number = o.number)), "
          "ended AS (DELETE FROM bapi.work_order o USING mine, unnest(${4}::bigint[], ${5}::bigint[]) "
          "AS e (trial, number) WHERE o.study = mine.id AND o.trial = e.trial AND o.number = e.number)",
          first,
          first + 1,
          first + 2,
          first + 3,
          first + 4,
          first + 5),
      .parameters = {workers, numbers, charged_trials, until, ended_trials, orders}};
}

// ---- PostgresWorkerDispatch

Joined PostgresWorkerDispatch::join(const WorkerCard& card) {
  const SqlRows study = db_->run_again("SELECT version FROM bapi.study WHERE id = $1", {study_});
  if (study.empty()) throw StoreError(fmt::format("{}: the study was removed", db_->url().shown()));
  const std::string_view version = study.text(0, 0);
  if (!version.empty() && !card.version.empty() && version != card.version) {
    throw InvalidInput(fmt::format(
        "{}: found a study that is led by bapi {}, but this worker is bapi {}. Install the same version for "
        "all of them",
        db_->url().shown(),
        version,
        card.version));
  }
  const SqlRows rows = db_->run(
      "SELECT id, lease_until, train_until, instant FROM bapi.join_study($1::int, $2, $3, $4, "
      "$5, $6::int)",
      {study_,
       std::string_view(card.host),
       std::int64_t{card.pid},
       std::string_view(card.job),
       std::string_view(card.version),
       std::int64_t{card.slots}});
  if (rows.empty()) throw StoreError(fmt::format("{}: the study was removed", db_->url().shown()));
  return {.worker = WorkerId{rows.integer(0, 0)}, .grant = grant_in(rows, 1)};
}

Receipt PostgresWorkerDispatch::deliver(WorkerId worker, const Delivery& delivery) {
  const std::string facts = delivery.says_something() ? encode(delivery) : "";
  const SqlRows rows = db_->run_again(
      "SELECT lease_until, train_until, instant FROM bapi.deliver($1::int, $2, $3, $4, $5::int, $6 = 1, $7, $8 = 1)",
      {study_,
       index(worker),
       delivery.number,
       delivery.tally.busy,
       std::int64_t{delivery.tally.failures},
       std::int64_t{delivery.trains},
       delivery.says_something() ? SqlValue(std::string_view(facts)) : SqlValue(nullptr),
       std::int64_t{is_urgent(delivery)}});
  if (!rows.empty()) return {.kind = Receipt::Kind::taken, .grant = grant_in(rows, 0)};
  const SqlRows standing =
      db_->run_again("SELECT delivered, accepted, lease_until, train_until, instant FROM bapi.standing($1::int, $2)",
                     {study_, index(worker)});
  const bool known = !standing.empty() && standing.integer(0, 1) == 1 && standing.integer(0, 0) == delivery.number;
  if (!known) return {.kind = Receipt::Kind::fenced};
  return {.kind = Receipt::Kind::known, .grant = grant_in(standing, 2)};
}

Instructions PostgresWorkerDispatch::look(WorkerId worker) const {
  const SqlRows rows = db_->run_again(
      fmt::format("SELECT p.phase, extract(epoch FROM clock_timestamp() - s.leader_seen)::float8, s.spec_version, {} "
                  "FROM bapi.study s JOIN bapi.pace p ON p.study = s.id LEFT JOIN bapi.work_order o ON o.study = s.id "
                  "AND o.worker = $2 WHERE s.id = $1 ORDER BY o.number",
                  kOrderColumns),
      {study_, index(worker)});
  if (rows.empty()) throw StoreError(fmt::format("{}: the study was removed", db_->url().shown()));
  Instructions found{.phase = value_of<StudyPhase>(rows.text(0, 0)), .spec_version = rows.integer(0, 2)};
  if (!rows.is_null(0, 1)) found.leader_silent = rows.number(0, 1);
  for (int row = 0; row < rows.size(); ++row) {
    if (!rows.is_null(row, 3)) found.orders.push_back(order_in(rows, row, 3));
  }
  return found;
}

void PostgresWorkerDispatch::change_state(WorkerId worker, WorkerState state) {
  check(state == WorkerState::leaving || state == WorkerState::gone, "a worker can leave and be gone, nothing else");
  db_->run_again("SELECT FROM bapi.change_state($1::int, $2, $3)", {study_, index(worker), word(state)});
}

bool PostgresWorkerDispatch::wait(WorkerId worker, double seconds) {
  return wait_for_hint(*db_, listening_[worker], fmt::format("bapi_worker_{}", index(worker)), seconds);
}

std::vector<WorkerRecord> workers_of(PostgresConnection& db, std::int64_t study) {
  const SqlRows rows = db.run_again(
      fmt::format("SELECT {} FROM bapi.worker w WHERE w.study = $1 ORDER BY w.id", kWorkerColumns), {study});
  std::vector<WorkerRecord> workers;
  for (int row = 0; row < rows.size(); ++row) workers.push_back(worker_in(rows, row, 0));
  return workers;
}

std::vector<WorkOrder> orders_of(PostgresConnection& db, std::int64_t study) {
  const SqlRows rows = db.run_again(
      fmt::format("SELECT {} FROM bapi.work_order o WHERE o.study = $1 ORDER BY o.trial", kOrderColumns), {study});
  std::vector<WorkOrder> orders;
  for (int row = 0; row < rows.size(); ++row) orders.push_back(order_in(rows, row, 0));
  return orders;
}

double server_time(PostgresConnection& db) { return db.run_again("SELECT clock_timestamp()").instant(0, 0); }

}  // namespace bapi
