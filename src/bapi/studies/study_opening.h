#pragma once

#include <functional>
#include <string>

#include "bapi/store/sqlite_store.h"
#include "bapi/store/study_dir.h"
#include "bapi/study/spec.h"

namespace bapi {

// The study in `dir` for its controller, who holds the lock: a new one with this specification, or the one that is
// there, once it agrees. What may change (spec_change.h) is taken over, and a budget that differs becomes its total.
// Throws InvalidInput that lists what may not. `tell` gets a line about everything that was done.
SqliteStore open_or_create_study(const StudyDir& dir,
                                 const StudySpec& spec,
                                 const std::function<void(const std::string&)>& tell);

// The same for a study that must be there.
SqliteStore reopen_study(const StudyDir& dir,
                         const StudySpec& wanted,
                         const std::function<void(const std::string&)>& tell);

}  // namespace bapi
