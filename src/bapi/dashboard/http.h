#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "bapi/report/table.h"

namespace bapi {

// A request and its answer, free of the library that carries them.

using HttpQuery = std::vector<std::pair<std::string, std::string>>;  // decoded

// The first parameter of that name; empty if there is none.
std::string_view parameter_of(const HttpQuery& query, std::string_view name);

// The same as an integer, `otherwise` if there is none; InvalidInput names the range.
std::int64_t integer_in(
    const HttpQuery& query, std::string_view name, std::int64_t otherwise, std::int64_t low, std::int64_t high);

struct HttpRequest {
  std::string method = "GET";
  std::string path = "/";                                         // decoded
  std::vector<std::pair<std::string, std::string>> headers = {};  // as they were sent, names in lower case
  HttpQuery query = {};
  std::string body = {};

  // The first one of that name; empty if there is none.
  std::string_view header(std::string_view name) const;
  std::string_view parameter(std::string_view name) const { return parameter_of(query, name); }
  bool has_header(std::string_view name) const;
};

// Writes bytes of a body that grows; false once nobody reads them any more.
using HttpWrite = std::function<bool(std::string_view)>;

struct HttpAnswer {
  int status = 200;
  std::string type = "application/json";
  std::string body = {};
  std::vector<std::pair<std::string, std::string>> headers = {};
  // If it is set, the body: called until it returns false.
  std::function<bool(const HttpWrite&)> stream = {};
};

// On one line without spaces. Bytes that are not text are replaced.
std::string compact_json(const Cell& cell);

// {"error": {"message", "hint"}}
HttpAnswer http_error(int status, std::string_view message, std::string_view hint = {});

}  // namespace bapi
