#pragma once

#include "bapi/store/postgres_connection.h"

namespace bapi {

// The tables of all studies of a database, in the schema `bapi`, numbered by what was done to make them.
inline constexpr std::int64_t kPostgresSchemaVersion = 1;

// Makes the tables, or brings those of an older version up to date. Whoever comes first does it for all. StoreError if
// they are of a newer version.
void migrate_schema(PostgresConnection& db);

// Whether the database has tables of this program; StoreError if they are of a newer version, or of an older one that
// only a writer brings up to date.
bool has_schema(PostgresConnection& db);

}  // namespace bapi
