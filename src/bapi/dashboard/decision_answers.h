#pragma once

#include "bapi/dashboard/http.h"
#include "bapi/dashboard/log_digest.h"
#include "bapi/report/table.h"

namespace bapi {

// What the JSON API says of decisions and their forecasts, as in answers.h.

// Rows of `bapi explain`, newest first, with what was decided to train, segment: {from, until, expected_cost}, and what
// came of it, came_true: {value, error, cost of the segment, cost_error}: {decisions, total, next}.
Fields decisions_page(const ShownStudy& study, const HttpQuery& query);
Cell decisions_about(const ShownStudy& study, TrialId trial);  // the same rows, the last 200 of one trial

// The newest decision, in words; without what came of it, which would need the whole log.
Cell latest_decision(const ShownStudy& study);

// Rows of `bapi calibration` as `table`, and the single errors as `forecasts`.
Fields calibration_record(const ShownStudy& study);

}  // namespace bapi
