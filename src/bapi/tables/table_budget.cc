#include "bapi/tables/table_budget.h"

#include <fmt/format.h>

#include <cmath>

#include "bapi/base/error.h"
#include "bapi/base/number.h"

namespace bapi {
namespace {

constexpr std::string_view kFull = "full";

}  // namespace

Cost TableBudget::on(const CurveTable& table) const {
  return unit == Unit::full_runs ? amount * table.mean_full_cost() : amount;
}

std::string TableBudget::text() const { return fmt::format("{}{}", amount, unit == Unit::full_runs ? kFull : ""); }

TableBudget parse_table_budget(const std::string& text) {
  const bool full = text.ends_with(kFull);
  const double amount =
      parse_number(std::string_view(text).substr(0, text.size() - (full ? kFull.size() : 0)), "budget");
  require(std::isfinite(amount) && amount > 0.0, fmt::format("budget {}: must be positive", text));
  return {.amount = amount, .unit = full ? TableBudget::Unit::full_runs : TableBudget::Unit::cost};
}

}  // namespace bapi
