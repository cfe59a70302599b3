#pragma once

#include <string>
#include <vector>

#include "bapi/tables/curve_table.h"
#include "bapi/tables/warm_start.h"

namespace bapi {

// How commands that take a table explain it.
inline constexpr const char* kTableHelp =
    "NAME.bin (LCT1), NAME.csv, a study directory, FILE.json:TASK[,...] or synthetic:SHAPE[,...]; see below";

// How commands that run policies on tables explain --no-checkpoints.
inline constexpr const char* kNoCheckpointsHelp =
    "Restart and charge resumed trials from epoch 1 (for programs without checkpoints)";

// What a comparison takes besides these.
inline constexpr const char* kTablesHelp =
    "Tables as `bapi simulate` takes them, directories of such files, or an INDEX.csv whose column `table` lists them";

struct TableInputOptions {
  int draw = 1500;  // configurations of a surrogate network, unless its name says rows=N
};

// Recorded learning curves from whatever `text` names. Throws InvalidInput.
CurveTable load_table(const std::string& text, const TableInputOptions& options = {});

// How commands that run policies on tables explain --from and --from-budget.
inline constexpr const char* kFromTableHelp =
    "Earlier study for a warm start: a study directory, or a table, on which the policy bapi is run first";
inline constexpr const char* kFromBudgetHelp = "Budget of that run on the table; default 20full";

// What simulated warm starts come from: studies as they are, and tables on which an earlier study may spend `budget`.
// Throws InvalidInput.
std::vector<EarlierTable> earlier_tables(const std::vector<std::string>& names,
                                         const std::string& budget,
                                         const TableInputOptions& options = {});

// The names of single tables behind `text`: the files and studies of a directory (those that an INDEX.csv in it lists,
// if there is one, else all below it in the order of their names), the tables of an index, every task of a surrogate
// network without a task; else `text` itself. Throws InvalidInput if there are none.
std::vector<std::string> table_names(const std::string& text);

}  // namespace bapi
