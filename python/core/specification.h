#pragma once

#include <pybind11/pybind11.h>

#include <string>

#include "bapi/study/spec.h"

namespace bapi::python {

// What the package needs to know of a study again and again.
pybind11::dict about_record(const StudySpec& spec);

std::string python_version();  // of the interpreter: "3.11.2"

}  // namespace bapi::python
