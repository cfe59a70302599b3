#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "bapi/dashboard/log_digest.h"
#include "bapi/report/table.h"
#include "bapi/store/study_lock.h"

namespace bapi {

// What the JSON API says of a study: the records of the commands, and what pages need besides. Pure functions of the
// study as it stands; values are in the user's direction, times in seconds since the Unix epoch.

using HttpQuery = std::vector<std::pair<std::string, std::string>>;

// One line of the list of studies: {name, policy, metric, goal, state, budget, trials, best, spark, changed, damage}.
Fields list_entry(const ShownStudy& study);

// The record of `bapi status` without what has to be looked up on the disk, plus {seq, now, committed, ends_at,
// left_at_end, deadline, began, changed, spending: {kind: cost}, workers: {busy, of}, controller, finish_reason,
// failures_in_a_row, damage, running: [{trial, epochs, until, best, last, since, spark, config}], latest}: small enough
// to be sent with every change.
Fields live_record(const ShownStudy& study, const std::optional<Leader>& holder, double now);

// The same with disk, and what does not change: spec, commands.
Fields overview_record(const ShownStudy& study, const std::optional<Leader>& holder, double now);

// Rows of `bapi trials`: {trials: [...], total, next}. Throws InvalidInput on a wrong parameter: state, q, sort, limit,
// cursor.
Fields trials_page(const ShownStudy& study, const HttpQuery& query);

// The record of `bapi show` without paths of this machine, plus {segment, spending, decisions, files}.
Fields trial_page(const ShownStudy& study, const Trial& trial);

// The end of a trial's log, or what stands before byte `before`: {text, from, to, size}.
Fields log_page(const ShownStudy& study, const Trial& trial, const HttpQuery& query);

// Every curve: "BCV1", u32 trials, u64 seq, u32 offset[trials + 1], f32 value[], f32 cost[]; little-endian, NaN for an
// epoch that was not reported.
std::string binary_curves(const ShownStudy& study);
Fields curves_record(const ShownStudy& study);  // {curves: [{trial, values, costs}]}

// Rows of `bapi explain`, newest first, with what was decided to train, segment: {from, until, expected_cost}, and what
// came of it, came_true: {value, error, cost of the segment, cost_error}: {decisions, total, next}.
Fields decisions_page(const ShownStudy& study, const HttpQuery& query);

Fields burndown_record(const ShownStudy& study, const HttpQuery& query);
Fields incumbent_record(const ShownStudy& study);
Fields timeline_record(const ShownStudy& study, const HttpQuery& query);  // within `from` and `to`, seconds

// Rows of `bapi calibration` as `table`, and the single errors as `forecasts`.
Fields calibration_record(const ShownStudy& study);

}  // namespace bapi
