#include "bapi/report/export.h"

#include <algorithm>

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
  Fields study = {{"name", spec.name},
                  {"metric", spec.metric.name},
                  {"goal", word(spec.metric.goal)},
                  {"epochs", Fields{{"min", spec.epochs.min}, {"max", spec.epochs.max}}},
                  {"policy", spec.policy.name},
                  // A seed may pass what JSON readers keep of an integer.
                  {"seed", std::to_string(spec.seed)},
                  {"workers", spec.workers},
                  {"command", command_of(spec)},
                  {"provenance", provenance_record(spec.provenance)}};
  if (spec.metric.valuation() != Valuation()) {
    study.emplace_back("value", Fields{{"smooth", spec.metric.smooth}, {"of", word(spec.metric.of)}});
  }
  if (spec.repeat > 1) study.emplace_back("repeat", spec.repeat);
  return study;
}

Fields trial_record(const History& history, const Trial& trial, Controller controller) {
  Fields record = {{"trial", index(trial.id)},
                   {"state", to_string(shown_state(trial, controller))},
                   {"config", fields_of(trial.config, history.spec().space)},
                   {"spent", trial.spent()},
                   {"overhead", trial.overhead},
                   {"best", trial.curve.empty() ? Cell() : Cell(history.in_user_units(trial.curve.best()))},
                   {"failure", trial.failure.empty() ? Cell() : Cell(trial.failure)},
                   {"curve", list_of(curve_table(history, trial.id))}};
  if (const auto& repeat = trial.assignment.repeat) record.emplace_back("repeat_of", index(repeat->of));
  return record;
}

}  // namespace

std::string export_csv(const History& history, std::span<const StoredEvent> events, Controller controller) {
  std::vector<std::string> columns = {"trial", "epoch", "value", "cost", "spent", "at", "state", "config"};
  const bool others = std::any_of(
      history.trials().begin(), history.trials().end(), [](const Trial& trial) { return !trial.others.empty(); });
  if (others) columns.emplace_back("metrics");
  Table table(columns);
  for (const SpentReport& report : spent_reports(history.spec(), events)) {
    const Trial& trial = history.trial(report.trial);
    std::vector<Cell> row = {index(report.trial),
                             report.measurement.epoch,
                             report.measurement.value,
                             report.measurement.cost,
                             report.spent,
                             report.at,
                             to_string(shown_state(trial, controller)),
                             fields_of(trial.config, history.spec().space)};
    if (others) row.emplace_back(other_metrics(trial, report.measurement.epoch));
    table.add(std::move(row));
  }
  return render(table, Format::csv);
}

std::string export_json(const History& history,
                        std::span<const StoredEvent> events,
                        Controller controller,
                        const ModelFiles& model) {
  // Part by part: as a whole, the cells of a long study take several times the memory of their text.
  std::string out = "{\"study\": " + to_json(study_of(history.spec()));
  out += ", \"status\": " + to_json(status_record(history, controller, model));
  out += ", \"trials\": [";
  const char* separator = "";
  for (const Trial& trial : history.trials()) {
    out += separator;
    out += to_json(trial_record(history, trial, controller));
    separator = ", ";
  }
  out += "], \"decisions\": " + json_list(decisions_table(events));
  out += ", \"ledger\": " + json_list(ledger_table(events));
  return out + "}\n";
}

}  // namespace bapi
