#include "bapi/studies/records.h"

#include <algorithm>

#include "bapi/report/summary.h"

namespace bapi {

std::vector<StoredEvent> events_of(const StudyView& study, TrialId trial) {
  std::vector<StoredEvent> events;
  std::copy_if(study.events.begin(), study.events.end(), std::back_inserter(events), [&](const StoredEvent& stored) {
    return trial_of(stored.event) == trial;
  });
  return events;
}

Fields trial_record(const StudyState& study, const Trial& trial, std::span<const StoredEvent> events) {
  const TrialDir dir = study.dir.trial(trial.id);
  const auto file = [&](const std::filesystem::path& path) {
    return is_nowhere(study.dir) ? Cell() : Cell(path.string());
  };
  const bool reported = !trial.curve.empty();
  Fields record = {{"trial", index(trial.id)},
                   {"state", to_string(shown_state(trial, study.controller))},
                   {"epochs", trial.curve.last_epoch()},
                   {"best", reported ? Cell(study.history.in_user_units(trial.curve.best())) : Cell()},
                   {"best_epoch", reported ? Cell(trial.curve.best_epoch()) : Cell()},
                   {"spent", trial.spent()},
                   {"overhead", trial.overhead},
                   {"config", fields_of(trial.config, study.spec().space)},
                   {"failure", trial.failure.empty() ? Cell() : Cell(trial.failure)},
                   {"curve", list_of(curve_table(study.history, trial.id))},
                   {"events", list_of(decisions_table(events))},
                   {"ledger", list_of(ledger_table(events))},
                   {"log", file(dir.log())},
                   {"report", file(dir.report())},
                   {"checkpoint", file(dir.checkpoint())}};
  if (study.history.repeats().empty()) return record;
  const std::optional<Standing> standing = standing_of(study.history, first_training(trial));
  const bool repeated = standing && standing->trainings > 1;
  record.emplace_back("repeat_of", trial.assignment.repeat ? Cell(index(trial.assignment.repeat->of)) : Cell());
  record.emplace_back("trainings", standing ? standing->trainings : 0);
  record.emplace_back("mean", repeated ? Cell(study.history.in_user_units(standing->mean)) : Cell());
  record.emplace_back("standard_error", repeated ? Cell(*standing->standard_error) : Cell());
  return record;
}

Table calibration_table(const Calibration& result) {
  Table table({"predicted", "count", "within_50", "within_80", "within_95"});
  for (const auto& [name, c] : {std::pair{"value", result.value}, std::pair{"cost", result.cost}}) {
    if (c.count > 0) {
      table.add({name, c.count, c.within_50, c.within_80, c.within_95});
    } else {
      table.add({name, 0, Cell(), Cell(), Cell()});
    }
  }
  return table;
}

}  // namespace bapi
