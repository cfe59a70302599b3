#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <memory>

#include "bapi/base/error.h"
#include "bapi/cli/commands.h"
#include "bapi/cli/exit_code.h"
#include "bapi/cli/listing.h"
#include "bapi/cli/log_tail.h"
#include "bapi/report/describe.h"
#include "bapi/report/sparkline.h"
#include "bapi/report/summary.h"
#include "bapi/report/text.h"
#include "bapi/studies/study_view.h"

namespace bapi {

namespace {

constexpr int kLogLines = 10;

struct ShowArguments {
  std::vector<std::string> words;  // [STUDY] TRIAL, in either order
  std::string format = "table";
};

std::optional<std::int64_t> number_of(const std::string& word) {
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), number);
  if (error != std::errc() || end != word.data() + word.size()) return std::nullopt;
  return number;
}

struct Target {
  std::string study;
  std::int64_t trial = 0;
};

Target target_of(std::vector<std::string> words) {
  require(words.size() <= 2, "bapi show takes a trial number and at most one study");
  if (words.size() == 2 && number_of(words[0]) && !number_of(words[1])) std::swap(words[0], words[1]);
  const std::optional<std::int64_t> trial = number_of(words.back());
  require(trial.has_value(), fmt::format("{}: expected the number of a trial (bapi trials lists them)", words.back()));
  return {.study = words.size() == 2 ? words[0] : "", .trial = *trial};
}

std::vector<StoredEvent> events_of(const StudyView& study, TrialId trial) {
  std::vector<StoredEvent> events;
  std::copy_if(study.events.begin(), study.events.end(), std::back_inserter(events), [&](const StoredEvent& stored) {
    return trial_of(stored.event) == trial;
  });
  return events;
}

Fields record_of(const StudyView& study, const Trial& trial, const std::vector<StoredEvent>& events) {
  const TrialDir dir = study.dir.trial(trial.id);
  const bool reported = !trial.curve.empty();
  return {{"trial", index(trial.id)},
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
          {"log", dir.log().string()},
          {"report", dir.report().string()},
          {"checkpoint", dir.checkpoint().string()}};
}

std::string line(const std::string& label, const std::string& text) {
  return text.empty() ? "" : fmt::format("{:<11}{}\n", label, text);
}

std::string value_text(const StudyView& study, const Trial& trial) {
  if (trial.curve.empty()) return "no report yet";
  return fmt::format("{} {} at epoch {}{}",
                     study.spec().metric.name,
                     short_number(study.history.in_user_units(trial.curve.best())),
                     trial.curve.best_epoch(),
                     study.history.incumbent() == trial.id ? ", the best of the study" : "");
}

std::string cost_text(const StudyView& study, const Trial& trial) {
  const BudgetSpec& unit = study.spec().budget;
  return fmt::format("{}, of which {} overhead", short_cost(trial.spent(), unit), short_cost(trial.overhead, unit));
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
    if (std::holds_alternative<Measured>(stored.event) || std::holds_alternative<Overhead>(stored.event)) continue;
    std::string text = describe(stored.event, study.spec());
    table.add({short_duration(stored.at - study.events.front().at), text.substr(0, text.find('\n'))});
  }
  return render(table, Format::table);
}

std::string for_people(const StudyView& study, const Trial& trial, const std::vector<StoredEvent>& events) {
  const TrialDir dir = study.dir.trial(trial.id);
  std::string out = line("trial", fmt::format("{} of {}", index(trial.id), study.spec().name));
  out += line("state",
              fmt::format("{}, {} of {} epochs",
                          to_string(shown_state(trial, study.controller)),
                          trial.curve.last_epoch(),
                          study.spec().epochs.max));
  out += line("config", to_text(Cell(fields_of(trial.config, study.spec().space))));
  out += line("best", value_text(study, trial));
  out += line("spent", cost_text(study, trial));
  out += line("curve", sparkline_of(study, trial));
  out += line("failure", trial.failure);
  out += line("log", shown_path(dir.log()));
  out += line("report", shown_path(dir.report()));
  out += line("checkpoint", shown_path(dir.checkpoint()) + "/");
  out += "\nDecisions\n" + story_of(study, events);
  if (!trial.curve.empty()) out += "\nCurve\n" + render(curve_table(study.history, trial.id), Format::table);
  out += "\nLedger\n" + render(ledger_table(events), Format::table);
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
      print(render(record_of(study, trial, events), Format::json));
      break;
    case Format::csv:
      print(render(curve_table(study.history, trial.id), Format::csv));
      break;
  }
  return kDone;
}

}  // namespace

Command show_command() {
  return {
      .name = "show",
      .summary = "Show one trial: configuration, curve, decisions and their reasons, costs, log",
      .examples =
          "Examples:\n"
          "  bapi show 12\n"
          "  bapi show mlp 12\n"
          "  bapi show mlp 12 -f json\n\n"
          "JSON: {trial, state, epochs, best, best_epoch, spent, overhead, config, failure, curve: [{epoch, value, "
          "cost}],\nevents: [{seq, at, trial, event, until, why}], ledger, log, report, checkpoint}; CSV: the curve.",
      .declare = [](Arguments& arguments) -> std::function<int()> {
        const auto parsed = std::make_shared<ShowArguments>();
        arguments.positionals("[STUDY] TRIAL", parsed->words, "Number of the trial; study as elsewhere");
        arguments.option("-f,--format", parsed->format, "table (for people), json or csv");
        return [parsed] { return show(*parsed); };
      }};
}

}  // namespace bapi
