#include "bapi/report/text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "bapi/base/split.h"

namespace bapi {

namespace {

// The first `width` columns of `text`; at least one code point, so that cutting piece by piece comes to an end.
std::string_view head_of(std::string_view text, std::size_t width) {
  std::size_t end = 0;
  for (std::size_t columns = 0; end < text.size() && (columns == 0 || columns < width); ++columns) {
    end += std::max<std::size_t>(1, code_point_length(text, end));
  }
  return text.substr(0, end);
}

}  // namespace

std::string short_number(double value) {
  // Below a million all digits before the point are shown: 12345 epochs are not "1.234e+04".
  const double size = std::abs(value);
  if (size < 1e6 && (value == std::floor(value) || size >= 1000.0)) return fmt::format("{:.0f}", value);
  return fmt::format("{:.4g}", value);
}

std::string short_duration(double seconds) {
  if (seconds < 0.0) return fmt::format("-{}", short_duration(-seconds));
  if (!std::isfinite(seconds)) return fmt::format("{}", seconds);
  if (seconds == 0.0) return "0 s";
  if (seconds < 0.9995) return fmt::format("{:.3g} ms", 1000.0 * seconds);
  if (seconds < 99.95) return fmt::format("{:.1f} s", seconds);
  const double minutes = std::round(seconds) / 60.0;
  const auto two = [](double units, double parts) { return std::fmod(std::floor(units * parts + 1e-9), parts); };
  if (minutes < 60.0) return fmt::format("{:.0f}m{:02.0f}s", std::floor(minutes), two(minutes, 60.0));
  const double hours = minutes / 60.0;
  if (hours < 48.0) return fmt::format("{:.0f}h{:02.0f}m", std::floor(hours), two(hours, 60.0));
  return fmt::format("{:.0f}d{:02.0f}h", std::floor(hours / 24.0), two(hours / 24.0, 24.0));
}

std::string short_cost(Cost cost, const BudgetSpec& budget) {
  if (budget.meter == Meter::accrued && budget.unit == "s") return short_duration(cost);
  const bool one_epoch = cost == 1.0 && budget.unit == "epochs";
  return short_number(cost) + " " + (one_epoch ? "epoch" : budget.unit);
}

std::string spent_of(Cost spent, Cost total, const BudgetSpec& budget) {
  const bool duration = budget.meter == Meter::accrued && budget.unit == "s";
  return fmt::format("{} of {}", duration ? short_duration(spent) : short_number(spent), short_cost(total, budget));
}

std::string with_unit(std::string_view name, const BudgetSpec& budget) {
  return fmt::format("{} ({})", name, budget.unit);
}

std::string plural(std::int64_t count, std::string_view noun) {
  return fmt::format("{} {}{}", count, noun, count == 1 ? "" : "s");
}

std::string first_fitting(std::span<const std::string> forms, std::size_t width) {
  for (const std::string& form : forms) {
    if (display_width(form) <= width) return form;
  }
  return forms.empty() ? std::string() : clipped(forms.back(), width);
}

std::vector<std::string> wrapped(std::span<const std::string> items, std::string_view separator, std::size_t width) {
  std::vector<std::string> lines;
  std::string line;
  const auto break_line = [&] {
    lines.push_back(line);
    line.clear();
  };
  for (std::size_t i = 0; i < items.size(); ++i) {
    // The separator stays at the end of a line, without its last space.
    std::string item = items[i];
    if (i + 1 < items.size()) item += separator;
    item.erase(item.find_last_not_of(' ') + 1);
    if (!line.empty() && display_width(line) + 1 + display_width(item) > width) break_line();
    if (!line.empty()) line += ' ';
    std::string_view rest = item;
    while (display_width(rest) > width) {
      const std::string_view head = head_of(rest, width);
      line = head;
      rest.remove_prefix(head.size());
      if (!rest.empty()) break_line();
    }
    line += rest;
  }
  if (!line.empty()) break_line();
  return lines;
}

std::vector<std::string> wrapped_words(std::string_view text, std::size_t width) {
  std::vector<std::string> words;
  for (std::string& word : split(std::string(text), ' ')) {
    if (!word.empty()) words.push_back(std::move(word));
  }
  return wrapped(words, " ", width);
}

}  // namespace bapi
