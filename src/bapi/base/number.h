#pragma once

#include <charconv>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace bapi {

// The number that all of `text` is, with a decimal point whatever the locale; nullopt if it is none, or does not fit.
template <typename Number>
std::optional<Number> number_in(std::string_view text) {
  Number number{};
  const char* const end = text.data() + text.size();
  const std::from_chars_result read = std::from_chars(text.data(), end, number);
  return read.ec == std::errc() && read.ptr == end ? std::optional(number) : std::nullopt;
}

// The same for a double, nan and inf included. Throws InvalidInput that begins with `where`.
double parse_number(std::string_view text, const std::string& where);

// The same for a whole number from `low` to `high`, written in digits alone.
std::uint64_t parse_whole_number(std::string_view text,
                                 std::uint64_t low,
                                 std::uint64_t high,
                                 const std::string& where);

}  // namespace bapi
