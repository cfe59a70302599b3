#include "bapi/report/text.h"

#include <fmt/format.h>

#include <cmath>

namespace bapi {

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
  if (budget.meter == Meter::seconds && budget.unit == "s") return short_duration(cost);
  const bool one_epoch = cost == 1.0 && budget.unit == "epochs";
  return short_number(cost) + " " + (one_epoch ? "epoch" : budget.unit);
}

}  // namespace bapi
