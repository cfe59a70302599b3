#pragma once

#include <span>

#include "bapi/policy/coverage.h"
#include "bapi/report/table.h"
#include "bapi/studies/study_view.h"
#include "bapi/study/trial.h"

namespace bapi {

// The records of the commands that show a study, for all who are asked the same questions; that of `bapi status` is
// status_of().

// `bapi show`: {trial, state, epochs, best, best_epoch, spent, overhead, config, failure, curve, events, ledger, log,
// report, checkpoint}. `events` are those of the trial.
Fields trial_record(const StudyState& study, const Trial& trial, std::span<const StoredEvent> events);
std::vector<StoredEvent> events_of(const StudyView& study, TrialId trial);

// `bapi calibration`: {predicted, count, within_50, within_80, within_95}, a row for values and one for costs.
Table calibration_table(const Calibration& result);

}  // namespace bapi
