#pragma once

#include <optional>

#include "bapi/cli/study_input.h"
#include "bapi/report/table.h"
#include "bapi/store/study_dir.h"
#include "bapi/study/spec.h"

namespace bapi {

enum class Verbosity { normal, quiet };

struct ControlOptions {
  Verbosity verbosity = Verbosity::normal;
  Format format = Format::table;  // of the result on standard output
};

// Runs the study in `dir` until it ends, from its beginning or from where it stands, and prints the result. A study
// that exists must agree with `spec` in everything but what may change (spec_change.h). Returns the exit code. Throws
// StoreError if another controller is at work.
int run_study(const StudyDir& dir, const StudySpec& spec, const ControlOptions& options);

// The same with the specification that the study has, apart from `overrides`.
int resume_study(const StudyDir& dir, const StudyOverrides& overrides, const ControlOptions& options);

}  // namespace bapi
