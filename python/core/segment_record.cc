#include "segment_record.h"

#include <pybind11/stl.h>

#include "bapi/process/command.h"
#include "convert.h"

namespace bapi::python {

namespace py = pybind11;

py::dict segment_record(const StudySpec& spec, const Segment& segment) {
  py::dict record;
  record["trial"] = index(segment.trial);
  record["config"] = to_python(segment.config, spec.space);
  record["from_epoch"] = spec.begins_after(segment.from);
  record["until"] = segment.until;
  record["last_payable"] = segment.max_epoch;
  record["budget_left"] = segment.budget_left;
  record["seed"] = trial_seed(spec, segment.trial);
  record["recent"] = segment.recent;
  return record;
}

}  // namespace bapi::python
