#pragma once

#include <pybind11/pybind11.h>

namespace bapi::python {

void bind_errors(pybind11::module_& module);
void bind_specification(pybind11::module_& module);
void bind_study(pybind11::module_& module);
void bind_workers(pybind11::module_& module);
void bind_cluster(pybind11::module_& module);
void bind_models(pybind11::module_& module);

}  // namespace bapi::python
