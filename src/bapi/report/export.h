#pragma once

#include <span>
#include <string>

#include "bapi/report/summary.h"
#include "bapi/study/event.h"
#include "bapi/study/history.h"
#include "bapi/study/progress.h"

namespace bapi {

// One line per report, for data frames: trial, epoch, value, cost, spent (by the whole study, this epoch included), at
// (seconds since the Unix epoch), state (of the trial, now, as every listing shows it), config.NAME for every
// parameter.
std::string export_csv(const History& history, std::span<const StoredEvent> events, Controller controller);

// Everything in one document: {study: {name, metric, goal, ...}, status, trials: [{..., curve: [...]}], decisions,
// ledger}.
std::string export_json(const History& history,
                        std::span<const StoredEvent> events,
                        Controller controller,
                        const ModelFiles& model);

}  // namespace bapi
