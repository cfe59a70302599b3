#include "bapi/store/postgres_store.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "bapi/base/error.h"
#include "bapi/base/nearest.h"
#include "bapi/store/event_row.h"
#include "bapi/store/postgres_dispatch.h"
#include "bapi/store/postgres_schema.h"
#include "bapi/study/codec.h"

namespace bapi {
namespace {

// Events that are asked for at once.
constexpr std::int64_t kRowsAtATime = 20'000;

// Everything or nothing, in one statement: a lost connection leaves no transaction open.
constexpr const char* kAppend = R"sql(
WITH mine AS (UPDATE bapi.study SET last_seq = last_seq + $4, decisions = decisions + $5
    WHERE id = $1 AND term = $2 AND last_seq = $3 RETURNING id),
  written AS (INSERT INTO bapi.event (study, seq, at, kind, trial, epoch, value, cost, payload)
    SELECT mine.id, $3 + e.n, $6, e.kind, e.trial, e.epoch, e.value, e.cost, e.payload
    FROM mine, unnest($7::text[], $8::bigint[], $9::bigint[], $10::float8[], $11::float8[], $12::text[])
      WITH ORDINALITY AS e (kind, trial, epoch, value, cost, payload, n)))sql";
constexpr int kAppendParameters = 12;

// What a crash of the server may undo as long as nothing that was written later is on its disk. For writes that are
// then made again: facts, whose deliveries come back with their removal, and decisions that no order has followed.
constexpr const char* kUnhurried = " SELECT count(*), set_config('synchronous_commit', 'off', true) FROM mine";
constexpr const char* kOnDisk = " SELECT count(*) FROM mine";

bool is_followed_by_order(const Event& event) {
  return std::holds_alternative<TrialStarted>(event) || std::holds_alternative<TrialResumed>(event);
}

constexpr const char* kRead = R"sql(
SELECT seq, at, kind, trial, epoch, value, cost, payload FROM bapi.event
WHERE study = $1 AND seq > $2 ORDER BY seq LIMIT $3)sql";

struct Batch {
  SqlArray<std::string> kinds;
  SqlArray<std::int64_t> trials;
  SqlArray<std::int64_t> epochs;
  SqlArray<double> values;
  SqlArray<double> costs;
  SqlArray<std::string> payloads;
};

Batch batch_of(std::span<const Event> events) {
  Batch batch;
  for (const Event& event : events) {
    EventRow row = row_of(event);
    batch.kinds.emplace_back(std::move(row.kind));
    batch.trials.push_back(row.trial);
    batch.epochs.push_back(row.epoch);
    batch.values.push_back(row.value);
    batch.costs.push_back(row.cost);
    batch.payloads.push_back(std::move(row.payload));
  }
  return batch;
}

Event event_in(const SqlRows& rows, int row) {
  return event_of({.kind = std::string(rows.text(row, 2)),
                   .trial = rows.optional_integer(row, 3),
                   .epoch = rows.optional_integer(row, 4),
                   .value = rows.optional_number(row, 5),
                   .cost = rows.optional_number(row, 6),
                   .payload = rows.optional_text(row, 7)});
}

}  // namespace

PostgresStore::PostgresStore(std::shared_ptr<PostgresConnection> db, DatabaseStudy place)
    : db_(std::move(db)), place_(place.shown()) {}

PostgresStore PostgresStore::create(std::shared_ptr<PostgresConnection> db,
                                    const std::string& name,
                                    const StudySpec& spec) {
  PostgresStore store(db, {.database = db->url(), .name = name});
  migrate_schema(*db);
  const SqlRows made = db->run(
      "WITH made AS (INSERT INTO bapi.study (name, spec_json) VALUES ($1, $2) ON CONFLICT (name) DO NOTHING "
      "RETURNING id) INSERT INTO bapi.pace (study) SELECT id FROM made RETURNING study",
      {std::string_view(name), std::string_view(encode(spec))});
  require(!made.empty(), fmt::format("{}: there is a study already; resume it, or choose another name", store.place()));
  store.load(name);
  return store;
}

PostgresStore PostgresStore::open(std::shared_ptr<PostgresConnection> db, const std::string& name) {
  PostgresStore store(db, {.database = db->url(), .name = name});
  store.load(name);
  return store;
}

// What is read from the database and makes no sense is damage, not the user's input.
void PostgresStore::load(const std::string& name) {
  const std::vector<std::string> names = studies_in(*db_);
  if (!std::ranges::binary_search(names, name)) {
    const std::string near = nearest(name, names);
    throw StoreError(fmt::format("{}: there is no study of this name in the database{}",
                                 place_,
                                 names.empty()  ? "; `bapi run --storage` creates one"
                                 : near.empty() ? fmt::format("; studies there: {}", fmt::join(names, ", "))
                                                : fmt::format("; did you mean {}?", near)));
  }
  const SqlRows rows =
      db_->run_again("SELECT id, term, spec_json, files FROM bapi.study WHERE name = $1", {std::string_view(name)});
  if (rows.empty()) throw StoreError(fmt::format("{}: the study was removed", place_));
  id_ = rows.integer(0, 0);
  term_ = rows.integer(0, 1);
  files_ = rows.text(0, 3);
  try {
    spec_ = decode_spec(rows.text(0, 2));
  } catch (const NewerFormat& error) {
    throw StoreError(fmt::format("{}: the specification: {}", place_, error.what()));
  } catch (const InvalidInput& error) {
    throw StoreError(fmt::format("{}: the specification is damaged: {}", place_, error.what()));
  }
}

EventLog PostgresStore::read(EventSeq after, EventSeq most) const {
  EventLog log;
  EventSeq seen = std::max<EventSeq>(after, 0);
  while (true) {
    const EventSeq wanted = std::min<EventSeq>(kRowsAtATime, most - std::ssize(log.events));
    const SqlRows rows = db_->run_again(kRead, {id_, std::int64_t{seen}, wanted});
    for (int row = 0; row < rows.size(); ++row) {
      const EventSeq seq = rows.integer(row, 0);
      if (seq != seen + 1) {
        log.damage = Damage{.seq = seen + 1, .reason = "it is missing"};
        return log;
      }
      try {
        log.events.push_back({.seq = seq, .at = rows.instant(row, 1), .event = event_in(rows, row)});
      } catch (const NewerFormat& error) {
        throw StoreError(fmt::format("{}: event {}: {}", place_, seq, error.what()));
      } catch (const InvalidInput& error) {
        log.damage = Damage{.seq = seq, .kind = std::string(rows.text(row, 2)), .reason = error.what()};
        return log;
      }
      seen = seq;
    }
    if (lead_) lead_->has_seen(seen);
    if (rows.size() < kRowsAtATime || std::ssize(log.events) >= most) return log;
  }
}

bool PostgresStore::append(EventSeq last, std::span<const Event> facts, double at, Durability) {
  for (const Event& fact : facts) check(!is_decision(fact), "append: a decision goes through append_decision");
  return write(last, facts, at, 0);
}

bool PostgresStore::append_decision(EventSeq last, const Event& decision, double at) {
  check(is_decision(decision), "append_decision: a fact goes through append");
  return write(last, std::span(&decision, 1), at, 1);
}

// A connection that the server has closed in the meantime is noticed by the first write; a second attempt tells more.
bool PostgresStore::write(EventSeq last, std::span<const Event> events, double at, int decisions) {
  try {
    return write_once(last, events, at, decisions);
  } catch (const ConnectionLost&) {
    unsure_ = true;
  }
  return write_once(last, events, at, decisions);
}

// The row of the study is locked by a write that is still under way, so that this one waits until it is known.
bool PostgresStore::write_once(EventSeq last, std::span<const Event> events, double at, int decisions) {
  const Batch batch = batch_of(events);
  std::vector<SqlValue> parameters = {id_,
                                      term_,
                                      std::int64_t{last},
                                      static_cast<std::int64_t>(events.size()),
                                      std::int64_t{decisions},
                                      Instant{at},
                                      batch.kinds,
                                      batch.trials,
                                      batch.epochs,
                                      batch.values,
                                      batch.costs,
                                      batch.payloads};
  std::string sql = kAppend;
  const bool settles = lead_ && decisions == 0 && !lead_->pending().empty();
  if (settles) {
    SettlementSql settlement = sql_of(lead_->pending(), kAppendParameters + 1);
    sql += settlement.ctes;
    parameters.insert(parameters.end(), settlement.parameters.begin(), settlement.parameters.end());
  }
  const bool made_again = settles || (lead_ && decisions > 0 && is_followed_by_order(events.front()));
  const SqlRows rows = db_->run(sql + (made_again ? kUnhurried : kOnDisk), parameters);
  const bool arrived = rows.integer(0, 0) == 1 || (unsure_ && has_arrived(last, events));
  unsure_ = false;
  if (!lead_) return arrived;
  if (arrived) {
    lead_->has_seen(last + std::ssize(events));
    if (settles) lead_->settled();
  } else {
    lead_->check_held();
    lead_->check_log();
  }
  return arrived;
}

// Whether exactly these events are what follows `last`, written in this term.
bool PostgresStore::has_arrived(EventSeq last, std::span<const Event> events) const {
  const SqlRows rows = db_->run_again("SELECT count(*) FROM bapi.study WHERE id = $1 AND term = $2 AND last_seq = $3",
                                      {id_, term_, std::int64_t{last} + static_cast<std::int64_t>(events.size())});
  if (rows.integer(0, 0) != 1) return false;
  const EventLog log = read(last);
  return std::ranges::equal(
      log.events,
      events,
      {},
      [](const StoredEvent& stored) { return encode(stored.event); },
      [](const Event& event) { return encode(event); });
}

void PostgresStore::write_under(PostgresLead& lead) {
  lead_ = &lead;
  term_ = lead.term();
}

// Of a write that must change the row of the study.
void PostgresStore::require_row(const SqlRows& rows) const {
  if (!rows.empty()) return;
  if (lead_) lead_->check_held();
  throw competition();
}

// Workers begin anew when their specification was changed, but not because of who leads.
void PostgresStore::update_spec(const StudySpec& spec) {
  const std::string text = encode(spec);
  StudySpec as_before = spec;
  as_before.provenance = spec_.provenance;
  require_row(
      db_->run("UPDATE bapi.study SET spec_json = $3, spec_version = spec_version + $4::int WHERE id = $1 AND "
               "term = $2 RETURNING id",
               {id_, term_, std::string_view(text), std::int64_t{as_before != spec_}}));
  spec_ = spec;
}

void PostgresStore::start_over(const StudySpec& spec) {
  const std::string text = encode(spec);
  require_row(db_->run_again(
      "WITH mine AS (UPDATE bapi.study SET spec_json = $3, spec_version = spec_version + 1, last_seq = 0, decisions = "
      "0 "
      "WHERE id = $1 AND term = $2 RETURNING id), events AS (DELETE FROM bapi.event e USING mine WHERE e.study = "
      "mine.id), "
      "orders AS (DELETE FROM bapi.work_order o USING mine WHERE o.study = mine.id), "
      "deliveries AS (DELETE FROM bapi.delivery d USING mine WHERE d.study = mine.id) SELECT id FROM mine",
      {id_, term_, std::string_view(text)}));
  spec_ = spec;
  if (lead_) lead_->has_seen(0);
}

void PostgresStore::set_files(const std::filesystem::path& directory) {
  const std::string text = directory.string();
  require_row(db_->run("UPDATE bapi.study SET files = $3 WHERE id = $1 AND term = $2 RETURNING id",
                       {id_, term_, std::string_view(text)}));
  files_ = directory;
}

std::vector<std::string> studies_in(PostgresConnection& db) {
  if (!has_schema(db)) return {};
  std::vector<std::string> names;
  const SqlRows rows = db.run_again("SELECT name FROM bapi.study");
  for (int row = 0; row < rows.size(); ++row) names.emplace_back(rows.text(row, 0));
  std::ranges::sort(names);  // as bytes, whatever the database sorts by
  return names;
}

}  // namespace bapi
