#include "bapi/report/sparkline.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

namespace bapi {

namespace {

constexpr std::array<const char*, 8> kBlocks = {"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};

}  // namespace

std::string sparkline(std::span<const double> values, std::size_t width) {
  const std::size_t columns = std::min(width, values.size());
  double low = std::numeric_limits<double>::infinity();
  double high = -low;
  for (const double value : values) {
    if (!std::isfinite(value)) continue;
    low = std::min(low, value);
    high = std::max(high, value);
  }

  std::string out;
  for (std::size_t i = 0; i < columns; ++i) {
    const double value = values[(i + 1) * values.size() / columns - 1];
    if (!std::isfinite(value)) {
      out += ' ';
      continue;
    }
    // Halves: the difference of two huge values must not overflow.
    const double height = high > low ? (0.5 * value - 0.5 * low) / (0.5 * high - 0.5 * low) : 0.5;
    const auto level = static_cast<std::size_t>(height * static_cast<double>(kBlocks.size()));
    out += kBlocks[std::min(level, kBlocks.size() - 1)];
  }
  return out;
}

}  // namespace bapi
