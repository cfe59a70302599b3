#pragma once

#include "bapi/report/table.h"
#include "bapi/studies/study_place.h"

namespace bapi {

// The workers of a study: {worker, host, pid, job, state, slots, trials, lease, failures, idle, joined}. `lease` is in
// seconds from now, null for those who are gone or lost; `idle` is the share of its slots' time in which nothing was
// trained.
Table workers_table(const Workforce& workforce);

// Without those who are gone or lost.
Workforce present_of(Workforce workforce);

}  // namespace bapi
