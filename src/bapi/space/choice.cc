#include "bapi/space/choice.h"

#include <limits>
#include <optional>
#include <utility>

namespace bapi {
namespace {

std::optional<double> as_number(const Value& value) {
  if (const auto* integer = std::get_if<std::int64_t>(&value)) return static_cast<double>(*integer);
  if (const auto* real = std::get_if<double>(&value)) return *real;
  return std::nullopt;
}

bool increases(const std::vector<Value>& options) {
  double last = -std::numeric_limits<double>::infinity();
  for (const Value& option : options) {
    const std::optional<double> number = as_number(option);
    if (!number || !(*number > last)) return false;
    last = *number;
  }
  return true;
}

}  // namespace

Choice choice_of(std::vector<Value> options) {
  const Choice::Order order = increases(options) ? Choice::Order::ordered : Choice::Order::unordered;
  return {.options = std::move(options), .order = order};
}

}  // namespace bapi
