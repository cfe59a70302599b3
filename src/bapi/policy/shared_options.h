#pragma once

#include "bapi/policy/initial_design.h"
#include "bapi/policy/option_table.h"
#include "bapi/policy/rungs.h"

namespace bapi {

// Options that several policies have, as parts of their tables.

const OptionTable<HalvingOptions>& halving_options();
const OptionTable<InitialDesign>& initial_runs_option();

}  // namespace bapi
