#include "bapi/dashboard/http.h"

#include <fmt/format.h>

#include <algorithm>

#include "bapi/base/error.h"
#include "bapi/base/number.h"
#include "bapi/report/text.h"

namespace bapi {
namespace {

std::string_view first_of(const std::vector<std::pair<std::string, std::string>>& list, std::string_view name) {
  const auto found = std::find_if(list.begin(), list.end(), [&](const auto& entry) { return entry.first == name; });
  return found == list.end() ? std::string_view() : std::string_view(found->second);
}

}  // namespace

std::string_view parameter_of(const HttpQuery& query, std::string_view name) { return first_of(query, name); }

std::int64_t integer_in(
    const HttpQuery& query, std::string_view name, std::int64_t otherwise, std::int64_t low, std::int64_t high) {
  const std::string_view text = parameter_of(query, name);
  if (text.empty()) return otherwise;
  const auto number = number_in<std::int64_t>(text);
  require(
      number && *number >= low && *number <= high,
      fmt::format("{}: found {}, expected an integer from {} to {}", name, visible_line(clipped(text, 40)), low, high));
  return *number;
}

std::string_view HttpRequest::header(std::string_view name) const { return first_of(headers, name); }

bool HttpRequest::has_header(std::string_view name) const {
  return std::any_of(headers.begin(), headers.end(), [&](const auto& entry) { return entry.first == name; });
}

std::string compact_json(const Cell& cell) { return cell.dump(-1, ' ', false, Cell::error_handler_t::replace); }

HttpAnswer http_error(int status, std::string_view message, std::string_view hint) {
  Fields error = {{"message", message}};
  if (!hint.empty()) error.emplace_back("hint", hint);
  return {.status = status, .body = to_json(Fields{{"error", std::move(error)}}) + "\n"};
}

}  // namespace bapi
