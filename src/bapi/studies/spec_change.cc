#include "bapi/studies/spec_change.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace bapi {

namespace {

std::string text_of(const std::optional<double>& seconds) { return seconds ? fmt::format("{} s", *seconds) : "none"; }

std::string text_of(const PolicySpec& policy) {
  std::string out = policy.name;
  for (const auto& [name, value] : policy.options) out += " " + name + "=" + to_text(value);
  return out;
}

std::string text_of(const BudgetSpec& budget) {
  if (budget.meter == Meter::seconds && budget.per_hour != 3600.0) {
    return fmt::format("{} at {} per hour", budget.unit, budget.per_hour);
  }
  return budget.unit;
}

void note(std::vector<std::string>& list,
          const std::string& what,
          const std::string& wanted,
          const std::string& stored) {
  list.push_back(fmt::format("{}: {} here, {} in the study", what, wanted, stored));
}

const Param* find(const Space& space, const std::string& name) {
  const auto it = std::find_if(
      space.params().begin(), space.params().end(), [&](const Param& param) { return param.name == name; });
  return it == space.params().end() ? nullptr : &*it;
}

void compare_spaces(const Space& stored, const Space& wanted, std::vector<std::string>& frozen) {
  if (stored == wanted) return;
  const std::size_t before = frozen.size();
  for (const Param& param : wanted.params()) {
    const Param* other = find(stored, param.name);
    if (!other) frozen.push_back(fmt::format("parameters.{}: not in the study", param.name));
    if (other && *other != param) frozen.push_back(fmt::format("parameters.{}: defined differently", param.name));
  }
  for (const Param& param : stored.params()) {
    if (!find(wanted, param.name)) frozen.push_back(fmt::format("parameters.{}: only in the study", param.name));
  }
  if (frozen.size() == before) frozen.push_back("parameters: in another order");
}

}  // namespace

SpecChange compare(const StudySpec& stored, const StudySpec& wanted) {
  SpecChange change;
  const auto frozen = [&](const std::string& what, const auto& here, const auto& there) {
    if (here != there) note(change.frozen, what, fmt::format("{}", here), fmt::format("{}", there));
  };
  const auto free = [&](const std::string& what, const auto& here, const auto& there) {
    if (here != there) note(change.free, what, fmt::format("{}", here), fmt::format("{}", there));
  };

  frozen("name", wanted.name, stored.name);
  frozen("command", wanted.command, stored.command);
  frozen("metric", wanted.metric.name, stored.metric.name);
  frozen("goal", word(wanted.metric.goal), word(stored.metric.goal));
  if (wanted.budget.meter != stored.budget.meter || wanted.budget.unit != stored.budget.unit ||
      wanted.budget.per_hour != stored.budget.per_hour) {
    note(change.frozen, "budget", text_of(wanted.budget), text_of(stored.budget));
  }
  frozen("epochs.min", wanted.epochs.min, stored.epochs.min);
  frozen("epochs.max", wanted.epochs.max, stored.epochs.max);
  frozen("seed", wanted.seed, stored.seed);
  frozen("policy", text_of(wanted.policy), text_of(stored.policy));
  frozen("checkpoint", word(wanted.checkpoint), word(stored.checkpoint));
  compare_spaces(stored.space, wanted.space, change.frozen);
  if (wanted.pool != stored.pool) change.frozen.push_back("pool: another list of configurations");

  free("workers", wanted.workers, stored.workers);
  if (wanted.deadline != stored.deadline) {
    note(change.free, "deadline", text_of(wanted.deadline), text_of(stored.deadline));
  }
  free("grace", wanted.grace, stored.grace);
  free("report_timeout", wanted.report_timeout, stored.report_timeout);
  free("max_failures", wanted.max_failures, stored.max_failures);
  if (wanted.env != stored.env) change.free.push_back("env: other variables");
  return change;
}

}  // namespace bapi
