#include "bapi/study/spec.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "bapi/base/error.h"
#include "bapi/study/names.h"

namespace bapi {
namespace {

void validate_budget(const BudgetSpec& budget) {
  require(std::isfinite(budget.limit) && budget.limit > 0.0,
          fmt::format("budget: limit = {}, must be positive and finite", budget.limit));
  require(std::isfinite(budget.per_hour) && budget.per_hour > 0.0,
          fmt::format("budget: per_hour = {}, must be positive and finite", budget.per_hour));
  require(!budget.unit.empty(), "budget: the unit is empty");
}

}  // namespace

double StudySpec::effective_grace() const {
  if (budget.meter != Meter::seconds) return grace;
  return std::min(grace, 0.02 * budget.to_seconds(budget.limit) / workers);
}

void StudySpec::validate() const {
  if (const auto mistake = study_name_mistake(name)) throw InvalidInput("name: " + *mistake);
  require(!metric.name.empty(), "metric: the name is empty");
  validate_budget(budget);
  require(!deadline || (std::isfinite(*deadline) && *deadline > 0.0),
          fmt::format("deadline: {} seconds, must be positive", deadline.value_or(0.0)));
  require(epochs.min >= 1, fmt::format("epochs: min = {}, must be at least 1", epochs.min));
  require(epochs.max >= epochs.min, fmt::format("epochs: max = {} is below min = {}", epochs.max, epochs.min));
  require(workers >= 1, fmt::format("workers: {}, must be at least 1", workers));
  require(std::isfinite(grace) && grace >= 0.0, fmt::format("grace: {} seconds, must not be negative", grace));
  require(std::isfinite(report_timeout) && report_timeout > 0.0,
          fmt::format("report_timeout: {} seconds, must be positive", report_timeout));
  require(max_failures >= 1, fmt::format("max_failures: {}, must be at least 1", max_failures));
  for (const Config& config : pool) space.validate(config);
}

}  // namespace bapi
