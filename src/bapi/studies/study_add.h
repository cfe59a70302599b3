#pragma once

#include "bapi/store/study_dir.h"
#include "bapi/studies/study_opening.h"
#include "bapi/study/wish.h"

namespace bapi {

// Asks for a configuration to be tried next. It is in the log when this returns, or, while somebody else runs the
// study, among its requests, which are recorded before the next decision. Throws InvalidInput if it does not fit the
// space.
void add_configuration(const StudyDir& dir, const NamedValues& given, const std::string& by, const Tell& tell);

}  // namespace bapi
