#include <pybind11/stl.h>

#include "bapi/base/error.h"
#include "bapi/policy/registry.h"
#include "bapi/study/quantity.h"
#include "bapi/study/spec.h"
#include "bindings.h"
#include "convert.h"

namespace bapi::python {

namespace py = pybind11;

namespace {

// "30m", "500 epochs", or a number of seconds.
BudgetSpec budget_spec(const py::object& budget, const std::string& where) {
  if (py::isinstance<py::str>(budget)) return parse_budget(budget.cast<std::string>(), where);
  const Value value = value_of(budget, where);
  const auto* whole = std::get_if<std::int64_t>(&value);
  const auto* real = std::get_if<double>(&value);
  require(whole || real, where + ": expected seconds as a number, or text like \"30m\" or \"500 epochs\"");
  return {.limit = whole ? static_cast<double>(*whole) : *real};
}

std::optional<double> seconds_of(const py::object& text, const std::string& where) {
  if (text.is_none()) return std::nullopt;
  if (py::isinstance<py::str>(text)) return parse_duration(text.cast<std::string>(), where);
  return budget_spec(text, where).limit;
}

Goal goal_of(const std::string& text) {
  require(text == "maximize" || text == "minimize",
          "goal: found \"" + text + "\", expected \"maximize\" or \"minimize\"");
  return text == "maximize" ? Goal::maximize : Goal::minimize;
}

std::uint64_t seed_of(const py::handle& seed) {
  const Value value = value_of(seed, "seed");
  const auto* whole = std::get_if<std::int64_t>(&value);
  require(whole && *whole >= 0, "seed: expected a whole number, 0 or more");
  return static_cast<std::uint64_t>(*whole);
}

// As it was given; StudyHandle::drive, which knows whether the study exists, validates it.
StudySpec make_spec(const py::dict& given) {
  StudySpec spec;
  spec.name = given["name"].cast<std::string>();
  spec.metric = {.name = given["metric"].cast<std::string>(), .goal = goal_of(given["goal"].cast<std::string>())};
  spec.budget = budget_spec(given["budget"], "budget");
  spec.deadline = seconds_of(given["deadline"], "deadline");
  spec.epochs = {.min = given["min_epochs"].cast<int>(), .max = given["max_epochs"].cast<int>()};
  spec.workers = given["workers"].cast<int>();
  spec.seed = seed_of(given["seed"]);
  spec.policy.name = given["policy"].cast<std::string>();
  for (const auto& [name, value] : given["policy_options"].cast<py::dict>()) {
    const auto key = name.cast<std::string>();
    spec.policy.options[key] = value_of(value, "policy_options." + key);
  }
  spec.space = space_of(given["space"].cast<py::list>());
  spec.checkpoint = given["checkpoints"].cast<bool>() ? Checkpoint::kept : Checkpoint::none;
  spec.grace = seconds_of(given["grace"], "grace").value_or(StudySpec{}.grace);
  spec.max_failures = given["max_failures"].cast<int>();
  return spec;
}

py::list policy_list() {
  py::list list;
  for (const PolicyInfo& info : policies()) {
    py::dict options;
    for (const PolicyOptionInfo& option : info.options) {
      options[py::str(option.name)] = option.default_value + ": " + option.help;
    }
    py::dict entry;
    entry["name"] = info.name;
    entry["summary"] = info.summary;
    entry["options"] = options;
    list.append(entry);
  }
  return list;
}

}  // namespace

void bind_specification(py::module_& module) {
  py::class_<StudySpec>(module, "Spec").def(py::init(&make_spec), py::arg("given"));
  module.def("policies", &policy_list);
}

}  // namespace bapi::python
