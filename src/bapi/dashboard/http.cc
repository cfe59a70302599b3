#include "bapi/dashboard/http.h"

#include <algorithm>

#include "bapi/report/table.h"

namespace bapi {
namespace {

std::string_view first_of(const std::vector<std::pair<std::string, std::string>>& list, std::string_view name) {
  const auto found = std::find_if(list.begin(), list.end(), [&](const auto& entry) { return entry.first == name; });
  return found == list.end() ? std::string_view() : std::string_view(found->second);
}

}  // namespace

std::string_view HttpRequest::header(std::string_view name) const { return first_of(headers, name); }
std::string_view HttpRequest::parameter(std::string_view name) const { return first_of(query, name); }

bool HttpRequest::has_header(std::string_view name) const {
  return std::any_of(headers.begin(), headers.end(), [&](const auto& entry) { return entry.first == name; });
}

HttpAnswer http_error(int status, std::string_view message, std::string_view hint) {
  Fields error = {{"message", message}};
  if (!hint.empty()) error.emplace_back("hint", hint);
  return {.status = status, .body = to_json(Fields{{"error", std::move(error)}}) + "\n"};
}

}  // namespace bapi
