#include "bapi/store/database_url.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "bapi/base/error.h"
#include "bapi/base/split.h"

namespace bapi {
namespace {

constexpr std::array<std::string_view, 2> kSchemes = {"postgresql://", "postgres://"};

// Options of libpq that hold a secret.
constexpr std::array<std::string_view, 2> kSecrets = {"password=", "sslpassword="};

// user:password@host/database -> user@host/database. A password with characters that it should not have, as '/' or
// '@', is none for libpq, and yet never to be shown: everything from the first ':' to the last '@' goes.
std::string without_password(const std::string& place) {
  const std::size_t at = place.rfind('@');
  const std::size_t colon = place.find(':');
  if (at == std::string::npos || colon > at) return place;
  return place.substr(0, colon) + place.substr(at);
}

// Names of options may be percent-encoded, as their values.
std::string decoded(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto digit = [](char c) {
      if (c >= '0' && c <= '9') return c - '0';
      const char lower = static_cast<char>(c | 0x20);
      return lower >= 'a' && lower <= 'f' ? lower - 'a' + 10 : -1;
    };
    if (text[i] == '%' && i + 2 < text.size() && digit(text[i + 1]) >= 0 && digit(text[i + 2]) >= 0) {
      out += static_cast<char>(16 * digit(text[i + 1]) + digit(text[i + 2]));
      i += 2;
    } else {
      out += text[i];
    }
  }
  return out;
}

bool is_secret(const std::string& option) {
  const std::string plain = decoded(option);
  for (const std::string_view secret : kSecrets) {
    if (plain.starts_with(secret)) return true;
  }
  return false;
}

std::string without_secrets(const std::string& query) {
  std::string kept;
  for (const std::string& option : split(query, '&')) {
    if (option.empty() || is_secret(option)) continue;
    kept += (kept.empty() ? "?" : "&") + option;
  }
  return kept;
}

// Options begin at the first '?' behind the user: a password may hold one.
std::string without_secrets_of(const std::string& url) {
  const std::size_t place = url.find("//") + 2;
  const std::size_t user = std::min(url.find('@', place), url.find('/', place));
  const std::size_t question = url.find('?', user == std::string::npos ? place : user);
  const std::string shown = url.substr(0, place) + without_password(url.substr(place, question - place));
  return question == std::string::npos ? shown : shown + without_secrets(url.substr(question + 1));
}

}  // namespace

bool DatabaseUrl::is_one(std::string_view text) {
  for (const std::string_view scheme : kSchemes) {
    if (text.starts_with(scheme)) return true;
  }
  return false;
}

DatabaseUrl::DatabaseUrl(std::string text) : text_(std::move(text)) {
  require(is_one(text_), "expected the address of a database, postgresql://user@host/database");
  shown_ = without_secrets_of(text_);
  require(text_.find('#') == std::string::npos,
          fmt::format("{}: expected the address of a database without the name of a study", shown_));
}

DatabaseStudy parse_database_study(const std::string& text) {
  const std::size_t mark = text.find('#');
  DatabaseStudy study{.database = DatabaseUrl(text.substr(0, mark)),
                      .name = mark == std::string::npos ? "" : text.substr(mark + 1)};
  require(!study.database.has_password(),
          fmt::format("{}: found a password in the address of a database, where every user of this machine can read "
                      "it. Put it into the file ~/.pgpass (or name a file: PGPASSFILE, or ?passfile=FILE), readable by "
                      "you alone: HOST:PORT:DATABASE:USER:PASSWORD",
                      study.shown()));
  return study;
}

}  // namespace bapi
