#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "bapi/tables/curve_table.h"

namespace bapi {

// Recorded learning curves as text: one line per configuration and epoch, under a header in YAML, each line of which
// begins with '#', that names metric and parameters as a study file does:
//
//   # metric: {name: accuracy, goal: maximize}
//   # parameters:
//   #   lr: {min: 1e-5, max: 1, log: true}
//   # cost_unit: s
//   lr,epoch,accuracy,cost
//   0.01,1,0.52,3.1
//   0.01,2,0.61,3.0
//
// Columns: every parameter, `epoch`, the metric and, optionally, `cost` (of that epoch; else 1), in any order. Lines of
// one configuration must have the epochs 1, 2, 3, ... in order; a value that is not a finite number (nan, inf) is a
// crash. `cost_unit` is only a name, except for `s`: decisions can be charged where costs are seconds. Throws
// InvalidInput with file and line.
CurveTable parse_csv_table(std::string_view text, const std::string& file);
CurveTable read_csv_table(const std::string& path);

// Whether a CSV file is a table of curves, by its first character, rather than any other listing.
bool is_csv_table(std::string_view text);

// The column `name` of a plain listing whose first line names the columns. Throws InvalidInput if there is no such.
std::vector<std::string> csv_column(std::string_view text, const std::string& name, const std::string& file);

}  // namespace bapi
