#include "bapi/store/postgres_schema.h"

#include <fmt/format.h>

#include <array>

#include "bapi/base/error.h"

namespace bapi {
namespace {

// Of advisory locks: "bapi" in ASCII. Studies are locked as (this, id); 0 is no study.
constexpr const char* kOneMigrationAtATime = "SELECT pg_advisory_xact_lock(1650552937, 0);";

// Number n makes version n out of version n - 1. Comments stay with the tables: \d+ in psql shows them.
constexpr std::array kMigrations = {R"sql(
CREATE SCHEMA IF NOT EXISTS bapi;
CREATE TABLE bapi.schema_version (version int NOT NULL);
INSERT INTO bapi.schema_version VALUES (0);

CREATE TABLE bapi.study (
  id           int GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  name         text UNIQUE NOT NULL,
  created      timestamptz NOT NULL DEFAULT now(),
  spec_json    text NOT NULL,
  spec_version int NOT NULL DEFAULT 1,      -- grows with every change of spec_json
  last_seq     bigint NOT NULL DEFAULT 0,   -- how many events the log holds
  decisions    int NOT NULL DEFAULT 0,      -- how many of them are decisions
  term         bigint NOT NULL DEFAULT 0,   -- grows with every change of the leader, who alone writes
  leader       text,                        -- process and host
  leader_seen  timestamptz,
  version      text NOT NULL DEFAULT '',    -- of the leader's bapi; workers need the same
  last_order   bigint NOT NULL DEFAULT 0,
  files        text NOT NULL DEFAULT ''     -- the directory that all workers share, if there is one
);
CREATE TABLE bapi.event (
  study   int NOT NULL REFERENCES bapi.study ON DELETE CASCADE,
  seq     bigint NOT NULL,                  -- 1, 2, 3, ... without gaps
  at      timestamptz NOT NULL,
  kind    text NOT NULL,
  trial   bigint,
  epoch   int,
  value   float8,
  cost    float8,
  payload text,
  PRIMARY KEY (study, seq)
);
CREATE TABLE bapi.pace (                    -- what workers may do without asking the leader
  study   int PRIMARY KEY REFERENCES bapi.study ON DELETE CASCADE,
  lease   float8 NOT NULL DEFAULT 60,       -- seconds
  stop_at timestamptz,
  phase   text NOT NULL DEFAULT 'open'
);
CREATE TABLE bapi.worker (
  id          bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  study       int NOT NULL REFERENCES bapi.study ON DELETE CASCADE,
  host        text NOT NULL,
  pid         bigint NOT NULL,
  job         text NOT NULL,
  version     text NOT NULL,
  slots       int NOT NULL,
  joined      timestamptz NOT NULL,
  state       text NOT NULL CHECK (state IN ('live', 'set aside', 'leaving', 'gone', 'lost')),
  lease_until timestamptz NOT NULL,
  train_until timestamptz NOT NULL,         -- its right to have processes ends then
  delivered   bigint NOT NULL DEFAULT 0,    -- the number of its last delivery
  busy        float8 NOT NULL DEFAULT 0,    -- seconds
  failures    int NOT NULL DEFAULT 0
) WITH (fillfactor = 50);
CREATE INDEX ON bapi.worker (study);
CREATE TABLE bapi.work_order (
  study         int NOT NULL REFERENCES bapi.study ON DELETE CASCADE,
  trial         bigint NOT NULL,
  worker        bigint NOT NULL REFERENCES bapi.worker ON DELETE CASCADE,
  number        bigint NOT NULL,
  command       text NOT NULL CHECK (command IN ('train', 'release')),
  segment_json  text NOT NULL,
  seen          bigint NOT NULL,
  charged_until timestamptz NOT NULL,
  PRIMARY KEY (study, trial)                -- at most one worker holds a trial
);
CREATE INDEX ON bapi.work_order (worker);
CREATE TABLE bapi.delivery (
  worker        bigint NOT NULL REFERENCES bapi.worker ON DELETE CASCADE,
  number        bigint NOT NULL,
  study         int NOT NULL REFERENCES bapi.study ON DELETE CASCADE,
  at            timestamptz NOT NULL,
  delivery_json text NOT NULL CHECK (octet_length(delivery_json) <= 1048576),
  PRIMARY KEY (worker, number)
);
CREATE TABLE bapi.letter (                  -- requests and configurations that users ask for
  study int NOT NULL REFERENCES bapi.study ON DELETE CASCADE,
  box   text NOT NULL,
  id    text NOT NULL,
  at    timestamptz NOT NULL DEFAULT clock_timestamp(),
  body  text NOT NULL,
  PRIMARY KEY (study, box, id)
);

-- What workers do. A role that may execute these and read study, pace and work_order needs no other right.
CREATE FUNCTION bapi.join_study(wanted int, its_host text, its_pid bigint, its_job text, its_version text, its_slots int,
    OUT id bigint, OUT lease_until timestamptz, OUT train_until timestamptz, OUT instant timestamptz)
RETURNS SETOF record LANGUAGE sql VOLATILE SECURITY DEFINER SET search_path = pg_catalog AS $$
WITH p AS (SELECT study, lease FROM bapi.pace WHERE study = wanted FOR SHARE),
  t AS (SELECT study, lease, clock_timestamp() AS instant FROM p),
  me AS (INSERT INTO bapi.worker (study, host, pid, job, version, slots, joined, state, lease_until, train_until)
    SELECT study, its_host, its_pid, its_job, its_version, its_slots, instant, 'live',
      instant + lease * interval '1 s', instant FROM t
    RETURNING id, lease_until, train_until)
SELECT me.id, me.lease_until, me.train_until, t.instant FROM me, t $$;

-- No row: it had arrived before, or the worker is fenced. The pace is locked first, so that none is overlooked.
CREATE FUNCTION bapi.deliver(wanted int, me_id bigint, its_number bigint, its_busy float8, its_failures int, trains bool,
    facts text, urgent bool, OUT lease_until timestamptz, OUT train_until timestamptz, OUT instant timestamptz)
RETURNS SETOF record LANGUAGE sql VOLATILE SECURITY DEFINER SET search_path = pg_catalog AS $$
WITH p AS (SELECT lease, stop_at FROM bapi.pace WHERE study = wanted FOR SHARE),
  t AS (SELECT lease, stop_at, clock_timestamp() AS instant FROM p),
  me AS (UPDATE bapi.worker w SET delivered = its_number, busy = its_busy, failures = its_failures,
      lease_until = greatest(w.lease_until, t.instant + t.lease * interval '1 s'),
      train_until = CASE WHEN trains THEN
        greatest(w.train_until, least(t.instant + t.lease * interval '1 s', t.stop_at)) ELSE w.train_until END
    FROM t WHERE w.id = me_id AND w.study = wanted AND w.state IN ('live', 'set aside', 'leaving')
      AND w.lease_until > t.instant AND w.delivered = its_number - 1
    RETURNING w.lease_until, w.train_until, t.instant),
  put AS (INSERT INTO bapi.delivery (worker, number, study, at, delivery_json)
    SELECT me_id, its_number, wanted, me.instant, facts FROM me WHERE facts IS NOT NULL)
SELECT me.lease_until, me.train_until, me.instant FROM me
WHERE NOT urgent OR EXISTS (SELECT FROM pg_notify('bapi_leader_' || wanted, '')) $$;

CREATE FUNCTION bapi.change_state(wanted int, me_id bigint, its_state text)
RETURNS void LANGUAGE sql VOLATILE SECURITY DEFINER SET search_path = pg_catalog AS $$
UPDATE bapi.worker SET state = its_state,
  lease_until = CASE its_state WHEN 'gone' THEN least(lease_until, clock_timestamp()) ELSE lease_until END,
  train_until = CASE its_state WHEN 'gone' THEN least(train_until, clock_timestamp()) ELSE train_until END
WHERE id = me_id AND study = wanted AND state IN ('live', 'set aside', 'leaving') AND its_state IN ('leaving', 'gone') $$;

-- Of a delivery that bapi.deliver did not take.
CREATE FUNCTION bapi.standing(wanted int, me_id bigint, OUT delivered bigint, OUT accepted bool,
    OUT lease_until timestamptz, OUT train_until timestamptz, OUT instant timestamptz)
RETURNS SETOF record LANGUAGE sql VOLATILE SECURITY DEFINER SET search_path = pg_catalog AS $$
SELECT w.delivered, w.state IN ('live', 'set aside', 'leaving') AND w.lease_until > t.instant, w.lease_until,
  w.train_until, t.instant
FROM bapi.worker w, (SELECT clock_timestamp() AS instant) t WHERE w.id = me_id AND w.study = wanted $$;

REVOKE ALL ON FUNCTION bapi.join_study, bapi.deliver, bapi.change_state, bapi.standing FROM PUBLIC;
COMMENT ON TABLE bapi.study IS 'One row per study; docs/store.md';
COMMENT ON TABLE bapi.event IS 'The log of every study: everything else is computed from it';
)sql"};
static_assert(kMigrations.size() == kPostgresSchemaVersion);

// 0: there are no tables yet. Looks with the statement's own snapshot: what the server remembers of names may be older
// than a lock that this connection has waited for.
std::int64_t version_of(PostgresConnection& db) {
  if (db.run("SELECT 1 FROM pg_catalog.pg_tables WHERE schemaname = 'bapi' AND tablename = 'schema_version'").empty()) {
    return 0;
  }
  const SqlRows rows = db.run("SELECT max(version) FROM bapi.schema_version");
  return rows.is_null(0, 0) ? 0 : rows.integer(0, 0);
}

void refuse_newer(const PostgresConnection& db, std::int64_t version) {
  if (version <= kPostgresSchemaVersion) return;
  throw StoreError(
      fmt::format("{}: its studies were written by a newer bapi (schema {}, this program knows up to {}). Upgrade bapi "
                  "to open them",
                  db.url().shown(),
                  version,
                  kPostgresSchemaVersion));
}

void require_unicode(PostgresConnection& db) {
  const SqlRows rows =
      db.run("SELECT pg_encoding_to_char(encoding) FROM pg_database WHERE datname = current_database()");
  require(rows.text(0, 0) == "UTF8",
          fmt::format("{}: found a database with the encoding {}, expected UTF8. Make one with CREATE DATABASE ... "
                      "ENCODING 'UTF8' TEMPLATE template0",
                      db.url().shown(),
                      rows.text(0, 0)));
}

}  // namespace

void migrate_schema(PostgresConnection& db) {
  if (version_of(db) == kPostgresSchemaVersion) return;
  require_unicode(db);
  PostgresTransaction transaction(db);
  db.execute(kOneMigrationAtATime);
  const std::int64_t found = version_of(db);
  refuse_newer(db, found);
  for (std::int64_t version = found; version < kPostgresSchemaVersion; ++version) {
    db.execute(kMigrations.at(static_cast<std::size_t>(version)));
    db.run("UPDATE bapi.schema_version SET version = $1", {version + 1});
  }
  transaction.commit();
}

bool has_schema(PostgresConnection& db) {
  const std::int64_t version = version_of(db);
  refuse_newer(db, version);
  return version == kPostgresSchemaVersion;
}

}  // namespace bapi
