#pragma once

#include <pybind11/pybind11.h>

#include "bapi/control/evaluator.h"
#include "bapi/study/spec.h"

namespace bapi::python {

// The fields of the Python class SegmentFields, by name.
pybind11::dict segment_record(const StudySpec& spec, const Segment& segment);

}  // namespace bapi::python
