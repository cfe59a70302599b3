#include "bapi/study/scalar.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <optional>
#include <utility>

namespace bapi {
namespace {

bool is_one_of(std::string_view text, std::initializer_list<std::string_view> words) {
  return std::find(words.begin(), words.end(), text) != words.end();
}

// All of `text`, or nothing. A leading plus is fine, "inf" and "nan" are words.
template <typename Number>
std::optional<Number> parse_number(std::string_view text) {
  if (text.starts_with('+')) text.remove_prefix(1);
  const bool numeric = !text.empty() && text.find_first_not_of("0123456789+-.eE") == std::string_view::npos &&
                       text.find_first_of("0123456789") != std::string_view::npos;
  if (!numeric) return std::nullopt;
  Number number{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return number;
}

std::optional<double> as_number(const Value& value) {
  if (const auto* integer = std::get_if<std::int64_t>(&value)) return static_cast<double>(*integer);
  if (const auto* real = std::get_if<double>(&value)) return *real;
  return std::nullopt;
}

bool increases(const std::vector<Value>& options) {
  double last = -std::numeric_limits<double>::infinity();
  for (const Value& option : options) {
    const std::optional<double> number = as_number(option);
    if (!number || !(*number > last)) return false;
    last = *number;
  }
  return true;
}

}  // namespace

Value parse_scalar(std::string_view text) {
  if (text.empty() || is_one_of(text, {"~", "null", "Null", "NULL"})) return std::monostate{};
  if (is_one_of(text, {"true", "True", "TRUE"})) return true;
  if (is_one_of(text, {"false", "False", "FALSE"})) return false;
  if (is_one_of(text, {".inf", ".Inf", ".INF", "+.inf"})) return std::numeric_limits<double>::infinity();
  if (is_one_of(text, {"-.inf", "-.Inf", "-.INF"})) return -std::numeric_limits<double>::infinity();
  if (is_one_of(text, {".nan", ".NaN", ".NAN"})) return std::numeric_limits<double>::quiet_NaN();
  if (const auto integer = parse_number<std::int64_t>(text)) return *integer;
  if (const auto real = parse_number<double>(text)) return *real;
  return std::string(text);
}

Choice choice_of(std::vector<Value> options) {
  const Choice::Order order = increases(options) ? Choice::Order::ordered : Choice::Order::unordered;
  return {.options = std::move(options), .order = order};
}

}  // namespace bapi
