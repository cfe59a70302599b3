#include "bapi/study/quantity.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <optional>
#include <utility>
#include <vector>

#include "bapi/base/error.h"
#include "bapi/base/nearest.h"
#include "bapi/base/split.h"

namespace bapi {
namespace {

constexpr double kMinute = 60.0;
constexpr double kHour = 3600.0;
constexpr double kDay = 86400.0;

constexpr std::array<std::pair<std::string_view, double>, 17> kTimeUnits = {{{"s", 1.0},
                                                                             {"sec", 1.0},
                                                                             {"secs", 1.0},
                                                                             {"second", 1.0},
                                                                             {"seconds", 1.0},
                                                                             {"m", kMinute},
                                                                             {"min", kMinute},
                                                                             {"mins", kMinute},
                                                                             {"minute", kMinute},
                                                                             {"minutes", kMinute},
                                                                             {"h", kHour},
                                                                             {"hr", kHour},
                                                                             {"hour", kHour},
                                                                             {"hours", kHour},
                                                                             {"d", kDay},
                                                                             {"day", kDay},
                                                                             {"days", kDay}}};

// Shorter words are too easily near to something: "j" is no misspelt "s".
constexpr std::size_t kShortestMisspelling = 4;

std::optional<double> seconds_per(std::string_view unit) {
  for (const auto& [name, seconds] : kTimeUnits) {
    if (name == unit) return seconds;
  }
  return std::nullopt;
}

// Takes a number from the front of `text`; nullopt and `text` unchanged if there is none.
std::optional<double> take_number(std::string_view& text) {
  text = trim(text);
  if (text.empty() || (text.front() != '.' && (text.front() < '0' || text.front() > '9'))) return std::nullopt;
  double number = 0.0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{}) return std::nullopt;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return number;
}

// Takes everything up to the next number or space.
std::string_view take_word(std::string_view& text) {
  text = trim(text);
  const std::string_view word = text.substr(0, text.find_first_of(" \t0123456789."));
  text.remove_prefix(word.size());
  return word;
}

// Seconds, or nullopt if `text` is no duration.
std::optional<double> duration(std::string_view text) {
  double total = 0.0;
  std::string_view rest = trim(text);
  if (rest.empty()) return std::nullopt;
  while (!rest.empty()) {
    const std::optional<double> number = take_number(rest);
    if (!number) return std::nullopt;
    const std::string_view word = take_word(rest);
    const bool bare = word.empty() && total == 0.0 && rest.empty();
    const std::optional<double> unit = bare ? std::optional(1.0) : seconds_per(word);
    if (!unit) return std::nullopt;
    total += *number * *unit;
    rest = trim(rest);
  }
  return total;
}

// Less buys no epoch: the study would end before it has trained anything.
constexpr double kLeastSeconds = 1e-3;

BudgetSpec of_seconds(double seconds, const std::string& where) {
  require(!(seconds > 0.0 && seconds < kLeastSeconds),
          fmt::format("{}: found {} seconds, expected at least a millisecond", where, seconds));
  return {.limit = seconds};
}

BudgetSpec of_epochs(double epochs, const std::string& where) {
  require(!(epochs > 0.0 && epochs < 1.0), fmt::format("{}: found {} epochs, expected at least 1", where, epochs));
  return {.limit = epochs, .unit = "epochs", .meter = Meter::epochs};
}

std::string misspelt_unit(const std::string& unit) {
  static const std::vector<std::string> kNames = {"seconds", "minutes", "hours", "days", "epochs"};
  return unit.size() >= kShortestMisspelling ? nearest(unit, kNames) : std::string();
}

// A budget in these would not say what may be spent.
bool counts_trials(const std::string& unit) {
  static const std::vector<std::string> kWords = {
      "trial", "trials", "run", "runs", "configuration", "configurations", "configs", "evaluations"};
  return std::find(kWords.begin(), kWords.end(), unit) != kWords.end();
}

}  // namespace

double parse_duration(std::string_view text, const std::string& where) {
  const std::optional<double> seconds = duration(text);
  require(seconds.has_value(),
          fmt::format("{}: found '{}', expected a duration such as 90s, 30m, 2h, 1h30m or seconds", where, text));
  return *seconds;
}

BudgetSpec budget_of(double limit, const std::string& unit, const std::string& where) {
  if (const std::optional<double> seconds = seconds_per(unit)) return of_seconds(limit * *seconds, where);
  if (unit == "epoch" || unit == "epochs") return of_epochs(limit, where);
  require(
      !counts_trials(unit),
      fmt::format("{}: found {} {}, but trials differ in length and most are stopped early; expected time, epochs or "
                  "money: 30m, '500 epochs' or '12 usd'. N full trainings cost N times epochs.max epochs",
                  where,
                  limit,
                  unit));
  const std::string meant = misspelt_unit(unit);
  require(meant.empty(), fmt::format("{}: unknown unit '{}'; did you mean '{}'?", where, unit, meant));
  return {.limit = limit, .unit = unit, .meter = Meter::reported};
}

BudgetSpec parse_budget(std::string_view text, const std::string& where) {
  if (const std::optional<double> seconds = duration(text)) return of_seconds(*seconds, where);
  std::string_view rest = text;
  const std::optional<double> limit = take_number(rest);
  const std::string unit(trim(rest));
  const bool one_word = !unit.empty() && unit.find_first_of(" \t0123456789.") == std::string::npos;
  require(limit && one_word,
          fmt::format("{}: found '{}', expected a budget such as 30m, 2h, '500 epochs' or '12 usd'", where, text));
  return budget_of(*limit, unit, where);
}

}  // namespace bapi
