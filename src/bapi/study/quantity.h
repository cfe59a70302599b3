#pragma once

#include <string>
#include <string_view>

#include "bapi/study/spec.h"

namespace bapi {

// "30m", "90s", "2h", "1h30m", "45" -> seconds. `where` begins the message on error.
double parse_duration(std::string_view text, const std::string& where);

// "30m", "500 epochs", "12 usd" -> budget. Units that bapi cannot measure are reported by the program.
BudgetSpec parse_budget(std::string_view text, const std::string& where);

// A limit of so many units: units of time become seconds. A unit that looks like a misspelt one of time or epochs is an
// error, not a unit of its own.
BudgetSpec budget_of(double limit, const std::string& unit, const std::string& where);

}  // namespace bapi
