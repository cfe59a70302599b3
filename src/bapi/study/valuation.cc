#include "bapi/study/valuation.h"

#include <algorithm>

#include "bapi/base/error.h"

namespace bapi {

// The mean of differences from the last: equal reports count exactly what they are, and large ones do not overflow.
double smoothed(const std::vector<double>& reports, int smooth) {
  check(!reports.empty(), "smoothed: there is no report");
  const auto count = std::min<std::size_t>(reports.size(), static_cast<std::size_t>(std::max(1, smooth)));
  const double last = reports.back();
  double mean = last;
  for (std::size_t i = 1; i < count; ++i) {
    const double report = reports[reports.size() - 1 - i];
    mean += (report - mean) / static_cast<double>(i + 1);
  }
  return mean;
}

double counted_report(double report, std::vector<double>& recent, int smooth) {
  recent.push_back(report);
  const double value = smoothed(recent, smooth);
  const std::ptrdiff_t surplus = std::ssize(recent) - std::max(0, smooth - 1);
  if (surplus > 0) recent.erase(recent.begin(), recent.begin() + surplus);
  return value;
}

}  // namespace bapi
