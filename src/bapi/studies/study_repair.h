#pragma once

#include "bapi/store/study_dir.h"
#include "bapi/study/event.h"

namespace bapi {

struct RepairSummary {
  EventSeq kept = 0;
  EventSeq set_aside = 0;    // events: in the table set_aside of the copy's study.db
  int trials_set_aside = 0;  // whose start is among them: their files are in set-aside/ of the copy
};

// Copies a study up to the event before its damage to the directory `copy`, which must not exist yet. The copy opens
// and can be resumed; the study itself is not changed. Throws InvalidInput if there is no damage or `copy` exists,
// StoreError if somebody runs the study or files cannot be copied.
RepairSummary repair_study(const StudyDir& dir, const StudyDir& copy);

}  // namespace bapi
