#pragma once

#include <string>
#include <vector>

#include "bapi/control/evaluator.h"
#include "bapi/store/study_dir.h"
#include "bapi/study/spec.h"

namespace bapi {

// What a training program is told when it starts.
struct Assignment {
  Segment segment;
  Epoch from = 0;  // it continues after this epoch: segment.from, or 0 if it keeps no checkpoints
  TrialDir dir;
  std::optional<double> deadline;      // seconds since the Unix epoch
  int worker = 0;                      // number of its slot, from 0
  std::vector<std::string> gpus = {};  // of all workers (gpus.h)
  std::string mark = {};               // NAME=value that tells this controller's programs from all others
};

// The argument vector with every ${macro} replaced. A parameter that does not apply is empty, and left out of ${args},
// which must be an argument of its own. Throws InvalidInput on an unknown macro.
std::vector<std::string> expand_command(const StudySpec& spec, const Assignment& assignment);

// NAME=value: `inherited` (as in environ), then the study's own variables, then BAPI_*; the later wins. Where
// BAPI_STORAGE is inherited, it and PG*, which open the database of the study, are left out.
std::vector<std::string> training_environment(const StudySpec& spec,
                                              const Assignment& assignment,
                                              const std::vector<std::string>& inherited);

// The same for the same study and trial, whatever happened in between; fits 31 bits, as many libraries want.
std::uint64_t trial_seed(const StudySpec& spec, TrialId trial);

}  // namespace bapi
