#pragma once

#include <string>
#include <string_view>

namespace bapi {

// Where studies are in a PostgreSQL database: postgresql://user@host:port/database?options, as libpq reads it.
class DatabaseUrl {
 public:
  // Whether a text means a database, not a file.
  static bool is_one(std::string_view text);

  // InvalidInput unless it is one, or if it names a study.
  explicit DatabaseUrl(std::string text);

  // For the connection alone: it may hold a password.
  const std::string& with_password() const { return text_; }

  // For people, logs and messages.
  const std::string& shown() const { return shown_; }

  bool has_password() const { return text_ != shown_; }

  bool operator==(const DatabaseUrl&) const = default;

 private:
  std::string text_;
  std::string shown_;
};

// A study in a database: postgresql://user@host/database#name.
struct DatabaseStudy {
  DatabaseUrl database;
  std::string name;  // empty: the only one there

  std::string shown() const { return name.empty() ? database.shown() : database.shown() + "#" + name; }
  bool operator==(const DatabaseStudy&) const = default;
};

// Splits a URL at '#'. InvalidInput if it is none, or if it holds a password: arguments are seen by everybody on the
// machine and kept by shells.
DatabaseStudy parse_database_study(const std::string& text);

}  // namespace bapi
