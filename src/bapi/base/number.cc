#include "bapi/base/number.h"

#include <fmt/format.h>

#include "bapi/base/error.h"

namespace bapi {

double parse_number(std::string_view text, const std::string& where) {
  const auto value = number_in<double>(text);
  require(value.has_value(), fmt::format("{}: found \"{}\", expected a number", where, text));
  return *value;
}

std::uint64_t parse_whole_number(std::string_view text,
                                 std::uint64_t low,
                                 std::uint64_t high,
                                 const std::string& where) {
  const auto value = number_in<std::uint64_t>(text);
  require(value && *value >= low && *value <= high,
          fmt::format("{}: found \"{}\", expected a whole number from {} to {}", where, text, low, high));
  return *value;
}

}  // namespace bapi
