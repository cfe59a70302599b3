#pragma once

#include <string>

#include "bapi/base/utf8.h"
#include "bapi/study/spec.h"

namespace bapi {

// Numbers for people, beside the text of bapi/base/utf8.h. Files and scripts get all digits; see table.h.

// Four significant digits, without trailing zeros: 0.9134, 1.2e-05, 12000.
std::string short_number(double value);

// "850 ms", "42.3 s", "12m05s", "3h20m", "2d04h".
std::string short_duration(double seconds);

// A cost with its unit: a duration if the unit is the second, else "42 epochs", "3.2 usd".
std::string short_cost(Cost cost, const BudgetSpec& budget);

}  // namespace bapi
