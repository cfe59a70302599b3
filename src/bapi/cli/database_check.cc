#include "bapi/cli/database_check.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "bapi/cli/exit_code.h"
#include "bapi/cli/study_check.h"
#include "bapi/store/postgres_connection.h"
#include "bapi/store/postgres_store.h"

namespace bapi {

namespace {

constexpr int kOldServer = 140000;  // the oldest that has what is needed; its support ends in November 2026

std::string setting(PostgresConnection& db, const char* name) {
  const SqlRows rows = db.run("SELECT current_setting($1, true)", {std::string_view(name)});
  return rows.optional_text(0, 0).value_or("");
}

void check_connection(PostgresConnection& db) {
  const bool encrypted = db.is_encrypted();
  const bool local = db.is_local();
  print(check_line("connection", encrypted ? "encrypted" : local ? "on this machine" : "NOT ENCRYPTED"));
  if (!encrypted && !local) {
    warn("results and commands cross the network in plain text; add ?sslmode=verify-full to the address");
  } else if (encrypted && db.url().shown().find("sslmode=verify-full") == std::string::npos && !local) {
    warn("the server's certificate is not checked; add ?sslmode=verify-full to the address");
  }
  if (!db.used_password() && !local) {
    warn(
        "the server asked for no password (trust in pg_hba.conf?): anyone who can connect can run commands on the "
        "workers; expected scram-sha-256");
  }
  if (setting(db, "password_encryption") == "md5") {
    warn("passwords are stored as md5; set password_encryption = 'scram-sha-256' and set them again");
  }
}

void check_safety(PostgresConnection& db) {
  for (const char* name : {"fsync", "full_page_writes", "synchronous_commit"}) {
    if (setting(db, name) != "off") continue;
    warn(fmt::format("{} is off: a power cut can lose results that were reported as safe", name));
  }
  if (setting(db, "transaction_read_only") == "on") warn("the database is read-only: no study can run");
}

}  // namespace

int check_database(const std::string& address) {
  const DatabaseStudy place = parse_database_study(address);
  PostgresConnection db(place.database);
  const int version = db.server_version();
  print(check_line("server", fmt::format("PostgreSQL {}.{}", version / 10000, version % 10000)));
  if (version / 10000 * 10000 <= kOldServer) warn("PostgreSQL 14 is no longer maintained; use 15 or newer");
  check_connection(db);
  check_safety(db);
  const std::vector<std::string> names = studies_in(db);
  print(check_line("studies", names.empty() ? "none yet" : fmt::format("{}", fmt::join(names, ", "))));
  return place.name.empty() ? kDone : check_study(address, {});
}

}  // namespace bapi
