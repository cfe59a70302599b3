#pragma once

#include <string>

#include "bapi/run/curve_table.h"

namespace bapi {

// How commands that take a table explain it.
inline constexpr const char* kTableHelp =
    "NAME.bin (LCT1), NAME.csv, a study directory, surrogate.json:TASK[,rows=N][,any], or synthetic:SHAPE[,rows=N]...";

// Recorded learning curves from whatever `text` names. Throws InvalidInput.
CurveTable load_table(const std::string& text);

// "20full" is 20 times the table's mean cost of a full run, a plain number is in the table's unit of cost.
Cost parse_table_budget(const std::string& text, const CurveTable& table);

}  // namespace bapi
