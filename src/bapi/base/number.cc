#include "bapi/base/number.h"

#include <fmt/format.h>

#include <charconv>

#include "bapi/base/error.h"

namespace bapi {

double parse_number(std::string_view text, const std::string& where) {
  double value = 0.0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  require(error == std::errc() && end == text.data() + text.size(),
          fmt::format("{}: found \"{}\", expected a number", where, text));
  return value;
}

std::uint64_t parse_whole_number(std::string_view text,
                                 std::uint64_t low,
                                 std::uint64_t high,
                                 const std::string& where) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  require(error == std::errc() && end == text.data() + text.size() && value >= low && value <= high,
          fmt::format("{}: found \"{}\", expected a whole number from {} to {}", where, text, low, high));
  return value;
}

}  // namespace bapi
