#pragma once

#include <cstdint>

#include "bapi/studies/study_opening.h"
#include "bapi/studies/study_place.h"

namespace bapi {

// Lets a failed trial go on from its checkpoint when the study is run next, before anything else is decided. Throws
// InvalidInput if there is no such trial or it has not failed, StoreError if a controller is at work.
void retry_trial(const StudyPlace& place, std::int64_t trial, const Tell& tell);

}  // namespace bapi
