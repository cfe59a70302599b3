#include "bapi/report/text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace bapi {

namespace {

bool continues(char c) { return (static_cast<unsigned char>(c) & 0xC0) == 0x80; }

// Bytes of the well-formed code point that begins at `at`; 0 if there is none (RFC 3629: no overlong forms, no
// surrogates, nothing above U+10FFFF).
std::size_t code_point_length(std::string_view text, std::size_t at) {
  const auto byte = [&](std::size_t i) { return at + i < text.size() ? static_cast<unsigned char>(text[at + i]) : 0U; };
  const unsigned first = byte(0);
  if (first < 0x80) return 1;
  std::size_t length = 0;
  unsigned low = 0x80;
  unsigned high = 0xBF;
  if (first >= 0xC2 && first <= 0xDF) length = 2;
  if (first >= 0xE0 && first <= 0xEF) length = 3;
  if (first >= 0xF0 && first <= 0xF4) length = 4;
  if (first == 0xE0) low = 0xA0;
  if (first == 0xED) high = 0x9F;
  if (first == 0xF0) low = 0x90;
  if (first == 0xF4) high = 0x8F;
  if (length == 0 || byte(1) < low || byte(1) > high) return 0;
  for (std::size_t i = 2; i < length; ++i) {
    if (byte(i) < 0x80 || byte(i) > 0xBF) return 0;
  }
  return length;
}

}  // namespace

std::string short_number(double value) {
  // Below a million all digits before the point are shown: 12345 epochs are not "1.234e+04".
  const double size = std::abs(value);
  if (size < 1e6 && (value == std::floor(value) || size >= 1000.0)) return fmt::format("{:.0f}", value);
  return fmt::format("{:.4g}", value);
}

std::string short_duration(double seconds) {
  if (seconds < 0.0) return "-" + short_duration(-seconds);
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
  if (budget.meter == Meter::seconds && budget.unit == "s") return short_duration(cost);
  const bool one_epoch = cost == 1.0 && budget.unit == "epochs";
  return short_number(cost) + " " + (one_epoch ? "epoch" : budget.unit);
}

std::size_t display_width(std::string_view text) {
  // Every byte that does not continue a code point begins one.
  return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), [](char c) { return !continues(c); }));
}

std::string clipped(std::string_view text, std::size_t width) {
  if (display_width(text) <= width) return std::string(text);
  if (width == 0) return "";
  std::size_t end = 0;
  for (std::size_t kept = 0; kept + 1 < width; ++kept) {
    do {
      ++end;
    } while (end < text.size() && continues(text[end]));
  }
  return std::string(text.substr(0, end)) + "…";
}

std::string well_formed(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (std::size_t i = 0; i < text.size();) {
    const std::size_t length = code_point_length(text, i);
    if (length == 0) {
      out += "\xEF\xBF\xBD";
      ++i;
      continue;
    }
    out += text.substr(i, length);
    i += length;
  }
  return out;
}

}  // namespace bapi
