#include "bapi/study/progress.h"

#include <algorithm>

#include "bapi/study/direction.h"

namespace bapi {

std::optional<Best> best(const History& history) {
  if (!history.incumbent()) return std::nullopt;
  const Trial& trial = history.trial(*history.incumbent());
  return Best{.trial = trial.id,
              .epoch = trial.curve.best_epoch(),
              .value = history.in_user_units(trial.curve.best()),
              .config = trial.config};
}

std::vector<SpentReport> spent_reports(const Metric& metric, std::span<const StoredEvent> events) {
  std::vector<SpentReport> reports;
  Cost spent = 0.0;
  std::optional<double> best_so_far;  // to be maximised
  for (const StoredEvent& stored : events) {
    if (const auto* overhead = std::get_if<Overhead>(&stored.event)) spent += overhead->cost;
    const auto* measured = std::get_if<Measured>(&stored.event);
    if (!measured) continue;
    spent += measured->measurement.cost;
    const double value = oriented(measured->measurement.value, metric.goal);
    const bool improves = !best_so_far || value > *best_so_far;
    if (improves) best_so_far = value;
    reports.push_back({.spent = spent,
                       .at = stored.at,
                       .trial = measured->trial,
                       .measurement = measured->measurement,
                       .improves = improves});
  }
  return reports;
}

std::vector<SpentReport> improvements(const Metric& metric, std::span<const StoredEvent> events) {
  std::vector<SpentReport> reports = spent_reports(metric, events);
  std::erase_if(reports, [](const SpentReport& report) { return !report.improves; });
  return reports;
}

}  // namespace bapi
