#pragma once

#include "bapi/studies/study_opening.h"
#include "bapi/studies/study_place.h"
#include "bapi/study/wish.h"

namespace bapi {

// Asks for a configuration to be tried next. It is in the log when this returns, or, while somebody else runs the
// study, among its requests, which are recorded before the next decision. Throws InvalidInput if it does not fit the
// space.
void add_configuration(const StudyPlace& place, const NamedValues& given, const std::string& by, const Tell& tell);

}  // namespace bapi
