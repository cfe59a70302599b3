#include <pybind11/stl.h>

#include "bapi/policy/registry.h"
#include "bapi/study/spec_file.h"
#include "bindings.h"
#include "convert.h"
#include "specification.h"

namespace bapi::python {

namespace py = pybind11;

namespace {

// `file` holds fields of a study file as JSON. As it was given; StudyHandle::drive, which knows whether the study
// exists, validates it.
StudySpec make_spec(const std::string& name,
                    const py::list& space,
                    const std::string& policy,
                    const py::dict& policy_options,
                    const std::string& file) {
  StudySpec spec;
  spec.name = name;
  spec.space = space_of(space);
  spec.policy.name = policy;
  for (const auto& [option, value] : policy_options) {
    const auto key = option.cast<std::string>();
    spec.policy.options[key] = value_of(value, "policy_options." + key);
  }
  read_function_study(file, spec);
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

py::dict about_record(const StudySpec& spec) {
  py::dict record;
  record["name"] = spec.name;
  record["metric"] = spec.metric.name;
  record["goal"] = std::string(word(spec.metric.goal));
  record["smooth"] = spec.metric.smooth;
  record["of"] = std::string(word(spec.metric.of));
  record["unit"] = spec.budget.unit;
  record["min_epochs"] = spec.epochs.min;
  record["max_epochs"] = spec.epochs.max;
  record["workers"] = spec.workers;
  record["seed"] = spec.seed;
  record["policy"] = spec.policy.name;
  py::list names;
  for (const Param& param : spec.space.params()) names.append(param.name);
  record["parameters"] = names;
  return record;
}

std::string python_version() {
  return std::string(Py_GetVersion()).substr(0, std::string_view(Py_GetVersion()).find(' '));
}

void bind_specification(py::module_& module) {
  py::class_<StudySpec>(module, "Spec")
      .def(py::init(&make_spec),
           py::kw_only(),
           py::arg("name"),
           py::arg("space"),
           py::arg("policy"),
           py::arg("policy_options"),
           py::arg("file"));
  module.def("policies", &policy_list);
  module.def("study_keys", &function_study_keys);
}

}  // namespace bapi::python
