#pragma once

#include "bapi/dashboard/http.h"
#include "bapi/dashboard/log_digest.h"
#include "bapi/report/table.h"

namespace bapi {

// What the JSON API says of trials, as in answers.h.

// Rows of `bapi trials`: {trials: [...], total, next}. Throws InvalidInput on a wrong parameter: state, q, sort, limit,
// cursor.
Fields trials_page(const ShownStudy& study, const HttpQuery& query);

// The record of `bapi show` without paths of this machine, plus {segment, spending, decisions, files}.
Fields trial_page(const ShownStudy& study, const Trial& trial);

// The end of a trial's log, or what stands before byte `before`: {text, from, to, size}.
Fields log_page(const ShownStudy& study, const Trial& trial, const HttpQuery& query);

}  // namespace bapi
