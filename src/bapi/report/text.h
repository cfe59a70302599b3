#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "bapi/study/spec.h"

namespace bapi {

// Numbers and lengths for people. Files and scripts get all digits; see table.h.

// Four significant digits, without trailing zeros: 0.9134, 1.2e-05, 12000.
std::string short_number(double value);

// "850 ms", "42.3 s", "12m05s", "3h20m", "2d04h".
std::string short_duration(double seconds);

// A cost with its unit: a duration if the unit is the second, else "42 epochs", "3.2 usd".
std::string short_cost(Cost cost, const BudgetSpec& budget);

// Columns that `text` takes on a terminal: UTF-8 code points, all of them one column wide.
std::size_t display_width(std::string_view text);

// At most `width` columns of `text`; a cut is marked with "…".
std::string clipped(std::string_view text, std::size_t width);

// `text` with every byte that is not part of a UTF-8 code point replaced by U+FFFD: what training programs print is not
// always text, but JSON and XML have to be.
std::string well_formed(std::string_view text);

}  // namespace bapi
