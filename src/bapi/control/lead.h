#pragma once

#include "bapi/control/cluster_evaluator.h"
#include "bapi/control/tune.h"

namespace bapi {

// Tunes a study in its workers until it ends, and tells them what becomes of it: they may go when it has finished, and
// wait if somebody has to look after it first. A leader that is interrupted leaves them training, for the next one.
TuneSummary lead(Session& session, ClusterEvaluator& evaluator, const Clock& clock, const TuneOptions& options);

}  // namespace bapi
