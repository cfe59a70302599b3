#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "bapi/base/utf8.h"
#include "bapi/study/spec.h"

namespace bapi {

// Numbers for people, beside the text of bapi/base/utf8.h. Files and scripts get all digits; see table.h.

// Four significant digits, without trailing zeros: 0.9134, 1.2e-05, 12000.
std::string short_number(double value);

// "850 ms", "42.3 s", "12m05s", "3h20m", "2d04h".
std::string short_duration(double seconds);

// "1 trial", "3 trials"; for nouns whose plural adds an s.
std::string plural(std::int64_t count, std::string_view noun);

// A cost with its unit: a duration if the unit is the second, else "42 epochs", "3.2 usd".
std::string short_cost(Cost cost, const BudgetSpec& budget);

// "23.6 s of 40.0 s", "120 of 500 epochs".
std::string spent_of(Cost spent, Cost total, const BudgetSpec& budget);

// The head of a column of costs: "spent (s)".
std::string with_unit(std::string_view name, const BudgetSpec& budget);

// The first of `forms`, a text in several lengths, that takes at most `width` columns. If none does, as much of the
// last one as there is room for; empty if there are no forms.
std::string first_fitting(std::span<const std::string> forms, std::size_t width);

// `items` in order, joined by `separator`, on as few lines of `width` columns as possible. Lines break between items;
// an item wider than a line is broken anywhere. Nothing is left out.
std::vector<std::string> wrapped(std::span<const std::string> items, std::string_view separator, std::size_t width);

// The words of a sentence on lines of `width` columns.
std::vector<std::string> wrapped_words(std::string_view text, std::size_t width);

}  // namespace bapi
