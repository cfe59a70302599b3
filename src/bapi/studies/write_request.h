#pragma once

#include <optional>
#include <string>

#include "bapi/control/requests.h"
#include "bapi/store/study_dir.h"

namespace bapi {

// Writes a budget or a note to the log of a study that no controller runs, under its lock. Returns why it is refused,
// if it is. Throws StoreError, also if a controller is at work.
std::optional<std::string> write_request(const StudyDir& dir, const StudyRequest& request, double now);

}  // namespace bapi
