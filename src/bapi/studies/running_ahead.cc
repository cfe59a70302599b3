#include "bapi/studies/running_ahead.h"

#include <iterator>

#include "bapi/process/ahead.h"

namespace bapi {

RunningAhead running_ahead(const StudyDir& dir, const History& history) {
  RunningAhead ahead;
  for (const Trial& trial : history.trials()) {
    const auto reports = reports_ahead(dir.trial(trial.id), history.spec().metric.name, trial.curve.last_epoch());
    if (reports.empty()) continue;
    ahead.epochs += static_cast<int>(std::ssize(reports));
    ahead.trials.push_back(trial.id);
  }
  return ahead;
}

}  // namespace bapi
