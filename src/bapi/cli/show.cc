#include <fmt/format.h>
#include <fmt/ranges.h>

#include <filesystem>
#include <memory>

#include "bapi/base/error.h"
#include "bapi/base/number.h"
#include "bapi/cli/commands.h"
#include "bapi/cli/exit_code.h"
#include "bapi/cli/listing.h"
#include "bapi/cli/log_tail.h"
#include "bapi/process/failure_text.h"
#include "bapi/report/describe.h"
#include "bapi/report/sparkline.h"
#include "bapi/report/summary.h"
#include "bapi/report/text.h"
#include "bapi/store/snapshot.h"
#include "bapi/studies/records.h"
#include "bapi/studies/study_view.h"

namespace bapi {

namespace {

constexpr int kLogLines = 10;

struct ShowArguments {
  std::vector<std::string> words;  // [STUDY] TRIAL, in either order
  std::string format = "table";
};

struct Target {
  std::string study;
  std::int64_t trial = 0;
};

Target target_of(std::vector<std::string> words) {
  require(words.size() <= 2, "show takes a trial number and at most one study");
  if (words.size() == 2 && number_in<std::int64_t>(words[0]) && !number_in<std::int64_t>(words[1]))
    std::swap(words[0], words[1]);
  const auto trial = number_in<std::int64_t>(words.back());
  require(trial.has_value(), fmt::format("{}: expected the number of a trial (bapi trials lists them)", words.back()));
  return {.study = words.size() == 2 ? words[0] : "", .trial = *trial};
}

std::string unless_empty(const std::string& label, const std::string& text) {
  return text.empty() ? "" : labelled(label, text);
}

std::string value_text(const StudyView& study, const Trial& trial) {
  if (trial.curve.empty()) return "no report yet";
  return fmt::format("{} {} at epoch {}{}",
                     study.spec().metric.name,
                     short_number(study.history.in_user_units(trial.curve.best())),
                     trial.curve.best_epoch(),
                     study.history.incumbent() == trial.id ? ", the best of the study" : "");
}

// Of the configuration, where it was trained more than once.
std::string trainings_text(const StudyView& study, const Trial& trial) {
  const History& history = study.history;
  if (history.repeats().empty()) return "";
  const std::optional<Standing> standing = standing_of(history, first_training(trial));
  if (!standing || (standing->trainings < 2 && standing->failed == 0)) return "";
  std::vector<std::string> others;
  for (const Trial& other : history.trials()) {
    if (first_training(other) == standing->first && other.id != trial.id) {
      others.push_back(std::to_string(index(other.id)));
    }
  }
  return fmt::format("{}, mean of {}{}; the same configuration: trial{} {}",
                     mean_text(history.in_user_units(standing->mean), standing->standard_error),
                     standing->trainings,
                     standing->failed > 0 ? fmt::format(", {} failed", standing->failed) : "",
                     others.size() == 1 ? "" : "s",
                     fmt::join(others, ", "));
}

std::string cost_text(const StudyView& study, const Trial& trial) {
  const BudgetSpec& unit = study.spec().budget;
  return fmt::format("{}, including {} of overhead", short_cost(trial.spent(), unit), short_cost(trial.overhead, unit));
}

std::string sparkline_of(const StudyView& study, const Trial& trial) {
  std::vector<double> values;
  for (const Measurement& point : trial.curve.points()) values.push_back(study.history.in_user_units(point.value));
  return sparkline(values, 60);
}

// Decisions with their reasons and what came of them; seconds count from the study's first event.
std::string story_of(const StudyView& study, const std::vector<StoredEvent>& events) {
  Table table({"after", "what"});
  for (const StoredEvent& stored : events) {
    if (charge_in(stored.event)) continue;
    const std::string text = describe(stored.event, study.spec());
    table.add({short_duration(stored.at - study.events.front().at), failure_headline(text)});
  }
  return render(table, Format::table);
}

std::string for_people(const StudyView& study, const Trial& trial, const std::vector<StoredEvent>& events) {
  const TrialDir dir = study.dir.trial(trial.id);
  std::string out = unless_empty("trial", fmt::format("{} of {}", index(trial.id), study.spec().name));
  out += unless_empty("state",
                      fmt::format("{}, {} of {} epochs",
                                  to_string(shown_state(trial, study.controller)),
                                  trial.curve.last_epoch(),
                                  study.spec().epochs.max));
  out += unless_empty("config", to_text(Cell(fields_of(trial.config, study.spec().space))));
  out += unless_empty("best", value_text(study, trial));
  out += unless_empty("trainings", trainings_text(study, trial));
  out += unless_empty("spent", cost_text(study, trial));
  out += unless_empty("curve", sparkline_of(study, trial));
  out += unless_empty("failure", trial.failure);
  if (trial.state == TrialState::interrupted) out += unless_empty("interrupted", trial.interruption);
  if (!is_nowhere(study.dir)) {
    out += unless_empty("log", shown_path(dir.log()));
    out += unless_empty("report", shown_path(dir.report()));
    std::error_code none;
    if (std::filesystem::exists(dir.checkpoint(), none)) {
      out += labelled("checkpoint", shown_path(dir.checkpoint()) + "/");
    }
    if (const std::optional<Snapshot> kept = newest_snapshot(dir)) {
      out += labelled("best model", fmt::format("{}/ (epoch {})", shown_path(kept->files), kept->label.epoch));
    }
  }
  out += "\nDecisions\n" + story_of(study, events);
  const std::string cost = with_unit("cost", study.spec().budget);
  if (!trial.curve.empty()) {
    Table curve = curve_table(study.history, trial.id);
    out += "\nCurve\n" + render(curve.head("value", study.spec().metric.name).head("cost", cost), Format::table);
  }
  out += "\nLedger\n" + render(ledger_table(events).head("cost", cost), Format::table);
  const std::string tail = log_tail(dir.log(), kLogLines);
  if (!tail.empty()) out += fmt::format("\nEnd of the log\n{}", tail);
  return out;
}

int show(const ShowArguments& arguments) {
  const Format format = parse_format(arguments.format);
  const Target target = target_of(arguments.words);
  const StudyView study = study_to_show(target.study);
  const auto count = static_cast<std::int64_t>(study.history.trials().size());
  require(target.trial >= 0 && target.trial < count,
          fmt::format("trial {}: {} has {} trials, numbered from 0", target.trial, study.spec().name, count));
  const Trial& trial = study.history.trial(TrialId{target.trial});
  const std::vector<StoredEvent> events = events_of(study, trial.id);
  switch (format) {
    case Format::table:
      print(for_people(study, trial, events));
      break;
    case Format::json:
      print(render(trial_record(study, trial, events), Format::json));
      break;
    case Format::csv:
      print(render(curve_table(study.history, trial.id), Format::csv));
      break;
  }
  return kDone;
}

}  // namespace

Command show_command() {
  return {.name = "show",
          .summary = "Show one trial: curve, decisions, costs and log",
          .examples =
              "Examples:\n"
              "  bapi show 12\n"
              "  bapi show mlp 12\n"
              "  bapi show mlp 12 -f json\n\n"
              "JSON: {trial, state, epochs, best, best_epoch, spent, overhead, config, failure, curve: [{epoch, value, "
              "cost,\nmetrics: {...}}], events: [{seq, at, trial, event, until, why}], ledger, log, report, "
              "checkpoint}; CSV: the curve.",
          .declare = [](Arguments& arguments) -> std::function<int()> {
            const auto parsed = std::make_shared<ShowArguments>();
            arguments.positionals(
                "[STUDY] TRIAL", parsed->words, "Number of the trial, after its study if there are several");
            arguments.option("-f,--format", parsed->format, "Output format: table, json or csv (CSV: the curve)");
            return [parsed] { return show(*parsed); };
          }};
}

}  // namespace bapi
