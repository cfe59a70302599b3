#pragma once

#include <string>
#include <string_view>

namespace bapi {

// The number that `text` is, all of it, with a decimal point whatever the locale; nan and inf are numbers. Throws
// InvalidInput that begins with `where`.
double parse_number(std::string_view text, const std::string& where);

}  // namespace bapi
