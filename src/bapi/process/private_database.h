#pragma once

#include <filesystem>
#include <string>

#include "bapi/store/database_url.h"

namespace bapi {

// A PostgreSQL server of this user, for people who have none: everything in one directory,
//
//   DIR/data/       what initdb makes
//   DIR/password    one line as in ~/.pgpass, mode 0600; the address names it
//   DIR/log         what the server says
//   DIR/url         its address
//
// It accepts TCP connections with scram-sha-256 only, and goes on until it is stopped or the machine is.
struct PrivateDatabaseOptions {
  std::string listen = "127.0.0.1";  // addresses to listen on, as listen_addresses of the server
  int port = 0;                      // 0: one that is free
};

// The directory of initdb, pg_ctl and postgres: that of PATH, or the newest of /usr/lib/postgresql/*/bin. InvalidInput
// if there is none.
std::filesystem::path postgres_programs();

// Makes the directory, if there is no database in it, with a random password. StoreError says what failed; so does the
// start of a server by root, which PostgreSQL refuses.
void prepare_private_database(const std::filesystem::path& directory, const PrivateDatabaseOptions& options = {});

// Prepares and starts it, and makes the database `bapi` with its tables; returns its address, also of one that runs
// already.
DatabaseUrl start_private_database(const std::filesystem::path& directory, const PrivateDatabaseOptions& options = {});

// Ends it in order. InvalidInput if there is no database in the directory; nothing if it does not run.
void stop_private_database(const std::filesystem::path& directory);

bool private_database_runs(const std::filesystem::path& directory);

}  // namespace bapi
