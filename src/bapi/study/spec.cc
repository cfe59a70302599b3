#include "bapi/study/spec.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string_view>

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

void accept(std::string_view where, const std::optional<std::string>& mistake) {
  if (mistake) throw InvalidInput(fmt::format("{}: {}", where, *mistake));
}

void validate_metric(const Metric& metric) { accept("metric", metric_name_mistake(metric.name)); }

void validate_command(const std::vector<std::string>& command) {
  for (const std::string& argument : command) accept("command", text_mistake(argument));
}

void validate_variables(const std::map<std::string, std::string>& env) {
  for (const auto& [name, content] : env) {
    accept("env", variable_name_mistake(name));
    accept("env: " + name, text_mistake(content));
  }
}

void validate_value(const Param& param, const Value& value) {
  if (const auto* text = std::get_if<std::string>(&value)) accept("parameters: " + param.name, text_mistake(*text));
}

void validate_texts(const Space& space) {
  for (const Param& param : space.params()) {
    if (const auto* constant = std::get_if<Constant>(&param.domain)) validate_value(param, constant->value);
    if (const auto* choice = std::get_if<Choice>(&param.domain)) {
      for (const Value& option : choice->options) validate_value(param, option);
    }
  }
}

}  // namespace

double StudySpec::effective_grace() const {
  if (budget.meter != Meter::seconds) return grace;
  return std::min(grace, 0.02 * budget.to_seconds(budget.limit) / workers);
}

void StudySpec::validate() const {
  validate_against(*this);
  validate_metric(metric);
  validate_command(command);
  validate_variables(env);
  validate_texts(space);
}

void StudySpec::validate_against(const StudySpec& recorded) const {
  if (metric.name != recorded.metric.name) validate_metric(metric);
  if (command != recorded.command) validate_command(command);
  if (env != recorded.env) validate_variables(env);
  if (space != recorded.space) validate_texts(space);
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
