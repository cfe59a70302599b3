#include "bapi/report/export.h"

#include "bapi/report/summary.h"
#include "bapi/report/table.h"

namespace bapi {

namespace {

Cell command_of(const StudySpec& spec) {
  std::vector<Cell> words;
  for (const std::string& word : spec.command) words.emplace_back(word);
  return words;
}

Fields study_of(const StudySpec& spec) {
  return {{"name", spec.name},
          {"metric", spec.metric.name},
          {"goal", word(spec.metric.goal)},
          {"epochs", Fields{{"min", spec.epochs.min}, {"max", spec.epochs.max}}},
          {"policy", spec.policy.name},
          // A seed may pass what JSON readers keep of an integer.
          {"seed", std::to_string(spec.seed)},
          {"workers", spec.workers},
          {"command", command_of(spec)}};
}

Cell trials_of(const History& history, Controller controller) {
  std::vector<Cell> list;
  for (const Trial& trial : history.trials()) {
    list.emplace_back(Fields{{"trial", index(trial.id)},
                             {"state", to_string(shown_state(trial, controller))},
                             {"config", fields_of(trial.config, history.spec().space)},
                             {"spent", trial.spent()},
                             {"overhead", trial.overhead},
                             {"best", trial.curve.empty() ? Cell() : Cell(history.in_user_units(trial.curve.best()))},
                             {"failure", trial.failure.empty() ? Cell() : Cell(trial.failure)},
                             {"curve", list_of(curve_table(history, trial.id))}});
  }
  return list;
}

}  // namespace

std::string export_csv(const History& history, std::span<const StoredEvent> events, Controller controller) {
  Table table({"trial", "epoch", "value", "cost", "spent", "at", "state", "config"});
  for (const SpentReport& report : spent_reports(history.spec().metric, events)) {
    const Trial& trial = history.trial(report.trial);
    table.add({index(report.trial),
               report.measurement.epoch,
               report.measurement.value,
               report.measurement.cost,
               report.spent,
               report.at,
               to_string(shown_state(trial, controller)),
               fields_of(trial.config, history.spec().space)});
  }
  return render(table, Format::csv);
}

std::string export_json(const History& history,
                        std::span<const StoredEvent> events,
                        Controller controller,
                        const std::string& best_checkpoint) {
  Fields status = status_record(history, controller, best_checkpoint);
  const Fields document = {{"study", study_of(history.spec())},
                           {"status", std::move(status)},
                           {"trials", trials_of(history, controller)},
                           {"decisions", list_of(decisions_table(events))},
                           {"ledger", list_of(ledger_table(events))}};
  return render(document, Format::json);
}

}  // namespace bapi
