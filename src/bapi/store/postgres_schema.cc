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
  leader       text,
  leader_seen  timestamptz
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
COMMENT ON TABLE bapi.study IS 'One row per study; docs/store.md';
COMMENT ON TABLE bapi.event IS 'The log of every study: everything else is computed from it';
)sql"};
static_assert(kMigrations.size() == kPostgresSchemaVersion);

// 0: there are no tables yet.
std::int64_t version_of(PostgresConnection& db) {
  if (db.run("SELECT to_regclass('bapi.schema_version')::text").is_null(0, 0)) return 0;
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
  const SqlRows rows = db.run("SELECT pg_encoding_to_char(encoding) FROM pg_database WHERE datname = current_database()");
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
