#pragma once

#include <string>

#include "bapi/dashboard/http.h"
#include "bapi/dashboard/log_digest.h"
#include "bapi/report/table.h"

namespace bapi {

// What the JSON API says for charts, as in answers.h.

// Every curve: "BCV1", u32 trials, u64 seq, u32 offset[trials + 1], f32 value[], f32 cost[]; little-endian, NaN for an
// epoch that was not reported.
std::string binary_curves(const ShownStudy& study);
Fields curves_record(const ShownStudy& study);  // {curves: [{trial, values, costs}]}

Fields burndown_record(const ShownStudy& study, const HttpQuery& query);
Fields incumbent_record(const ShownStudy& study);
Fields timeline_record(const ShownStudy& study, const HttpQuery& query);  // within `from` and `to`, seconds

Cell spending_cell(const Spending& sums);  // {kind: cost}

}  // namespace bapi
