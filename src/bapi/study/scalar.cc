#include "bapi/study/scalar.h"

#include <algorithm>
#include <limits>
#include <optional>

#include "bapi/base/number.h"

namespace bapi {
namespace {

bool is_one_of(std::string_view text, std::initializer_list<std::string_view> words) {
  return std::find(words.begin(), words.end(), text) != words.end();
}

// All of `text`, or nothing. A leading plus is fine, "inf" and "nan" are words.
template <typename Number>
std::optional<Number> plain_number(std::string_view text) {
  if (text.starts_with('+')) text.remove_prefix(1);
  const bool numeric = !text.empty() && text.find_first_not_of("0123456789+-.eE") == std::string_view::npos &&
                       text.find_first_of("0123456789") != std::string_view::npos;
  return numeric ? number_in<Number>(text) : std::nullopt;
}

}  // namespace

Value parse_scalar(std::string_view text) {
  if (text.empty() || is_one_of(text, {"~", "null", "Null", "NULL"})) return std::monostate{};
  if (is_one_of(text, {"true", "True", "TRUE"})) return true;
  if (is_one_of(text, {"false", "False", "FALSE"})) return false;
  if (is_one_of(text, {".inf", ".Inf", ".INF", "+.inf"})) return std::numeric_limits<double>::infinity();
  if (is_one_of(text, {"-.inf", "-.Inf", "-.INF"})) return -std::numeric_limits<double>::infinity();
  if (is_one_of(text, {".nan", ".NaN", ".NAN"})) return std::numeric_limits<double>::quiet_NaN();
  if (const auto integer = plain_number<std::int64_t>(text)) return *integer;
  if (const auto real = plain_number<double>(text)) return *real;
  return std::string(text);
}

}  // namespace bapi
