#include <sys/prctl.h>

#include <csignal>

#include "bapi/base/error.h"
#include "bapi/study/curve.h"
#include "bindings.h"

namespace bapi::python {

namespace py = pybind11;

// The same messages under the names that Python people expect: wrong input is a ValueError, a store that cannot be read
// or written an OSError, a bug of ours a RuntimeError.
void bind_errors(py::module_& module) {
  const auto describe = [](py::object type, const char* text) {
    type.attr("__module__") = "bapi";
    type.attr("__doc__") = text;
  };
  const auto& error = py::register_exception<Error>(module, "Error");
  const auto& invalid =
      py::register_exception<InvalidInput>(module, "InvalidInput", py::make_tuple(error, py::handle(PyExc_ValueError)));
  const auto& store =
      py::register_exception<StoreError>(module, "StoreError", py::make_tuple(error, py::handle(PyExc_OSError)));
  const auto& logic = py::register_exception<LogicError>(module, "LogicError", PyExc_RuntimeError);
  describe(error, "Base class of all errors except LogicError.");
  describe(invalid,
           "An argument, an option or a file is invalid. The message says what was found and what was expected.");
  describe(store, "The study cannot be read or written: missing, used by another process, disk full.");
  describe(logic, "A bug in bapi, or calls in an impossible order.");
}

}  // namespace bapi::python

PYBIND11_MODULE(_core, module) {
  using namespace bapi::python;
  module.doc() = "The engine of bapi. Use the package bapi; anything here may change.";
  module.attr("version") = BAPI_VERSION;
  module.attr("MOST_UNREPORTED") = bapi::kMostUnreported;
  module.def("die_with_parent", [] { ::prctl(PR_SET_PDEATHSIG, SIGKILL); });
  bind_errors(module);
  bind_specification(module);
  bind_study(module);
  bind_workers(module);
  bind_cluster(module);
  bind_models(module);
}
