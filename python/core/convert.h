#pragma once

#include <pybind11/pybind11.h>

#include "bapi/report/table.h"
#include "bapi/space/space.h"

namespace bapi::python {

// Between Python's values and ours. Numbers of numpy are numbers.

Value value_of(const pybind11::handle& object, const std::string& where);  // InvalidInput names `where`
pybind11::object to_python(const Value& value);

// Programs print what they like, and a log keeps it: what is no UTF-8 becomes U+FFFD, as in the JSON of the program.
pybind11::str text_to_python(const std::string& text);

pybind11::dict to_python(const Config& config, const Space& space);
// A dict with a value for every parameter that applies; InvalidInput otherwise.
Config config_of(const pybind11::dict& values, const Space& space);

pybind11::object to_python(const Cell& cell);
pybind11::list to_python(const Table& table);  // of dicts

// From what bapi.spaces makes of a space: (name, kind, low, high, log, options, when) per parameter.
Space space_of(const pybind11::list& params);

}  // namespace bapi::python
