#pragma once

#include <optional>
#include <string>

#include "bapi/dashboard/log_digest.h"
#include "bapi/report/table.h"
#include "bapi/store/leadership.h"

namespace bapi {

// What the JSON API says of a study: the records of the commands, and what pages need besides. Pure functions of the
// study as it stands; values are in the user's direction, times in seconds since the Unix epoch.

// One line of the list of studies: {name, policy, metric, goal, state, budget, trials, best, spark, changed, seq,
// damage, id, error}. The error is null.
Fields list_entry(const ShownStudy& study, const std::string& id);

// The record of `bapi status` without what has to be looked up on the disk, plus {seq, now, committed, ends_at,
// left_at_end, deadline, began, changed, spending: {kind: cost}, workers: {busy, of}, controller, finish_reason,
// failures_in_a_row, damage, running: [{trial, epochs, until, best, last, since, spark, config}], latest}: small enough
// to be sent with every change.
Fields live_record(const ShownStudy& study, const std::optional<Leader>& leader, double now);

// The same with disk, and what does not change: spec, commands.
Fields overview_record(const ShownStudy& study, const std::optional<Leader>& leader, double now);

}  // namespace bapi
