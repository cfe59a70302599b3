#pragma once

#include <string>

#include "bapi/control/requests.h"

namespace bapi {

// Asks a study for something and prints `done` once it is. InvalidInput says why it is refused; returns the exit code.
int ask_of_study(const std::string& study, const StudyRequest& request, const std::string& done);

}  // namespace bapi
