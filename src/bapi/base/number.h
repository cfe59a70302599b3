#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace bapi {

// The number that `text` is, all of it, with a decimal point whatever the locale; nan and inf are numbers. Throws
// InvalidInput that begins with `where`.
double parse_number(std::string_view text, const std::string& where);

// The same for a whole number from `low` to `high`, written in digits alone.
std::uint64_t parse_whole_number(std::string_view text,
                                 std::uint64_t low,
                                 std::uint64_t high,
                                 const std::string& where);

}  // namespace bapi
