#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace bapi {

// A request and its answer, free of the library that carries them.

struct HttpRequest {
  std::string method = "GET";
  std::string path = "/";                                         // decoded
  std::vector<std::pair<std::string, std::string>> headers = {};  // as they were sent, names in lower case
  std::vector<std::pair<std::string, std::string>> query = {};    // decoded
  std::string body = {};

  // The first one of that name; empty if there is none.
  std::string_view header(std::string_view name) const;
  std::string_view parameter(std::string_view name) const;
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

// {"error": {"message", "hint"}}
HttpAnswer http_error(int status, std::string_view message, std::string_view hint = {});

}  // namespace bapi
