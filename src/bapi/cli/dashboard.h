#pragma once

#include "bapi/cli/arguments.h"

namespace bapi {

Command dashboard_command();

}  // namespace bapi
