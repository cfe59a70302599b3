#include "bapi/studies/spec_change.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>

#include "bapi/study/spec_fields.h"

namespace bapi {

namespace {

// By their names in spec_fields.h; every other field is frozen.
constexpr std::array<std::string_view, 6> kFree = {
    "workers", "deadline", "grace", "report_timeout", "max_failures", "env"};

using Lines = std::vector<std::string>;

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

std::string text_of(const std::optional<double>& seconds) { return seconds ? fmt::format("{} s", *seconds) : "none"; }

template <typename T>
std::string text_of(const T& value) {
  if constexpr (Named<T>) {
    return std::string(word(value));
  } else {
    return fmt::format("{}", value);
  }
}

void note(Lines& lines, std::string_view what, const std::string& wanted, const std::string& stored) {
  lines.push_back(fmt::format("{}: {} here, {} in the study", what, wanted, stored));
}

template <typename T>
void compare_field(std::string_view name, const T& stored, const T& wanted, Lines& lines) {
  if (wanted != stored) note(lines, name, text_of(wanted), text_of(stored));
}

void compare_field(std::string_view name, const Metric& stored, const Metric& wanted, Lines& lines) {
  compare_field(name, stored.name, wanted.name, lines);
  compare_field("goal", stored.goal, wanted.goal, lines);
}

// The limit is changed by an event.
void compare_field(std::string_view name, const BudgetSpec& stored, BudgetSpec wanted, Lines& lines) {
  wanted.limit = stored.limit;
  if (wanted != stored) note(lines, name, text_of(wanted), text_of(stored));
}

void compare_field(std::string_view name, const EpochRange& stored, const EpochRange& wanted, Lines& lines) {
  compare_field(fmt::format("{}.min", name), stored.min, wanted.min, lines);
  compare_field(fmt::format("{}.max", name), stored.max, wanted.max, lines);
}

const Param* find(const Space& space, const std::string& name) {
  const auto it = std::find_if(
      space.params().begin(), space.params().end(), [&](const Param& param) { return param.name == name; });
  return it == space.params().end() ? nullptr : &*it;
}

void compare_field(std::string_view, const Space& stored, const Space& wanted, Lines& lines) {
  if (stored == wanted) return;
  const std::size_t before = lines.size();
  for (const Param& param : wanted.params()) {
    const Param* other = find(stored, param.name);
    if (!other) lines.push_back(fmt::format("parameters.{}: not in the study", param.name));
    if (other && *other != param) lines.push_back(fmt::format("parameters.{}: defined differently", param.name));
  }
  for (const Param& param : stored.params()) {
    if (!find(wanted, param.name)) lines.push_back(fmt::format("parameters.{}: only in the study", param.name));
  }
  if (lines.size() == before) lines.push_back("parameters: in another order");
}

void compare_field(std::string_view name,
                   const std::vector<Config>& stored,
                   const std::vector<Config>& wanted,
                   Lines& lines) {
  if (wanted != stored) lines.push_back(fmt::format("{}: another list of configurations", name));
}

void compare_field(std::string_view name,
                   const std::map<std::string, std::string>& stored,
                   const std::map<std::string, std::string>& wanted,
                   Lines& lines) {
  if (wanted != stored) lines.push_back(fmt::format("{}: other variables", name));
}

// Where the fields of a specification are, in the order in which they are visited.
struct Addresses {
  std::vector<const void*> list = {};

  template <typename T>
  void operator()(std::string_view, const T& value) {
    list.push_back(&value);
  }

  template <typename T>
  void if_set(std::string_view name, const T& value) {
    (*this)(name, value);
  }
};

// Visits the fields of one specification, with those of another beside it: the same list, so the same types.
struct Comparer {
  const Addresses& stored;
  SpecChange& change;
  std::size_t next = 0;

  template <typename T>
  void operator()(std::string_view name, const T& wanted) {
    const T& other = *static_cast<const T*>(stored.list[next++]);
    const bool free = std::find(kFree.begin(), kFree.end(), name) != kFree.end();
    compare_field(name, other, wanted, free ? change.free : change.frozen);
  }

  template <typename T>
  void if_set(std::string_view name, const T& wanted) {
    (*this)(name, wanted);
  }
};

}  // namespace

SpecChange compare(const StudySpec& stored, const StudySpec& wanted) {
  Addresses there;
  fields(there, stored);
  SpecChange change;
  Comparer comparer{.stored = there, .change = change};
  fields(comparer, wanted);
  return change;
}

}  // namespace bapi
