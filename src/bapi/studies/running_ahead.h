#pragma once

#include <vector>

#include "bapi/store/study_dir.h"
#include "bapi/study/history.h"

namespace bapi {

// Epochs that programs have reported past what was decided, and that are not in the log yet (lockstep;
// process/ahead.h).
struct RunningAhead {
  int epochs = 0;
  std::vector<TrialId> trials = {};
};

RunningAhead running_ahead(const StudyDir& dir, const History& history);

}  // namespace bapi
