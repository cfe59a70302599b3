#pragma once

#include <string>

#include "bapi/tables/curve_table.h"

namespace bapi {

// A budget that can be given to any table.
struct TableBudget {
  enum class Unit { cost, full_runs };
  double amount = 0.0;
  Unit unit = Unit::full_runs;
  bool operator==(const TableBudget&) const = default;

  // In the table's unit of cost; a full run counts with the mean over the table.
  Cost on(const CurveTable& table) const;
  std::string text() const;  // "20full", "3600": one way to write each
};

// "20full" is 20 times the table's mean cost of a full run, a plain number is in the table's unit of cost. Throws
// InvalidInput unless it is positive.
TableBudget parse_table_budget(const std::string& text);

}  // namespace bapi
