#include "bapi/policy/options.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "bapi/base/error.h"
#include "bapi/base/nearest.h"

namespace bapi {
namespace {

std::optional<double> as_number(const Value& value) {
  if (const auto* i = std::get_if<std::int64_t>(&value)) return static_cast<double>(*i);
  if (const auto* d = std::get_if<double>(&value)) return *d;
  return std::nullopt;
}

}  // namespace

OptionReader::OptionReader(const PolicySpec& spec,
                           const std::vector<std::string>& known,
                           const std::vector<std::string>& retired)
    : spec_(spec) {
  const auto has = [](const std::vector<std::string>& names, const std::string& name) {
    return std::find(names.begin(), names.end(), name) != names.end();
  };
  for (const auto& [name, value] : spec.options) {
    if (has(known, name) || has(retired, name)) continue;
    const std::string near = nearest(name, known);
    throw InvalidInput(
        fmt::format("policy.{}: {} has no such option{}",
                    name,
                    spec.name,
                    !near.empty() ? fmt::format("; did you mean {}?", near)
                                  : (known.empty() ? "s at all" : fmt::format("; it has {}", fmt::join(known, ", ")))));
  }
}

const Value* OptionReader::find(const std::string& name) const {
  const auto found = spec_.options.find(name);
  return found == spec_.options.end() ? nullptr : &found->second;
}

void OptionReader::fail(const std::string& name, const Value& found, const std::string& expected) const {
  throw InvalidInput(fmt::format("policy.{}: found {}, expected {}", name, to_text(found), expected));
}

int OptionReader::integer(const std::string& name, int default_value, int low, int high) const {
  const Value* value = find(name);
  if (!value) return default_value;
  const auto* number = std::get_if<std::int64_t>(value);
  if (!number || *number < low || *number > high)
    fail(name, *value, fmt::format("an integer from {} to {}", low, high));
  return static_cast<int>(*number);
}

double OptionReader::real(const std::string& name, double default_value, double low, double high) const {
  const Value* value = find(name);
  if (!value) return default_value;
  const std::optional<double> number = as_number(*value);
  if (!number || !(*number >= low && *number <= high))
    fail(name, *value, fmt::format("a number from {} to {}", low, high));
  return *number;
}

bool OptionReader::flag(const std::string& name, bool default_value) const {
  const Value* value = find(name);
  if (!value) return default_value;
  if (const auto* b = std::get_if<bool>(value)) return *b;
  const std::string text = to_text(*value);
  if (text == "on" || text == "true") return true;
  if (text == "off" || text == "false") return false;
  fail(name, *value, "on or off");
}

std::string OptionReader::word(const std::string& name,
                               const std::string& default_value,
                               const std::vector<std::string>& allowed) const {
  const Value* value = find(name);
  if (!value) return default_value;
  const std::string text = to_text(*value);
  if (std::find(allowed.begin(), allowed.end(), text) == allowed.end()) {
    fail(name, *value, fmt::format("one of {}", fmt::join(allowed, ", ")));
  }
  return text;
}

std::optional<double> OptionReader::real_or(const std::string& name,
                                            const std::string& word,
                                            std::optional<double> default_value,
                                            double low,
                                            double high) const {
  const Value* value = find(name);
  if (!value) return default_value;
  if (to_text(*value) == word) return std::nullopt;
  const std::optional<double> number = as_number(*value);
  if (!number || !(*number >= low && *number <= high)) {
    fail(name, *value, fmt::format("{} or a number from {} to {}", word, low, high));
  }
  return number;
}

std::optional<int> OptionReader::integer_or(
    const std::string& name, const std::string& word, std::optional<int> default_value, int low, int high) const {
  const Value* value = find(name);
  if (!value) return default_value;
  if (to_text(*value) == word) return std::nullopt;
  const auto* number = std::get_if<std::int64_t>(value);
  if (!number || *number < low || *number > high) {
    fail(name, *value, fmt::format("{} or an integer from {} to {}", word, low, high));
  }
  return static_cast<int>(*number);
}

}  // namespace bapi
