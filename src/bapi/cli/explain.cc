#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>
#include <memory>

#include "bapi/cli/commands.h"
#include "bapi/cli/exit_code.h"
#include "bapi/cli/insight_input.h"
#include "bapi/cli/listing.h"
#include "bapi/report/describe.h"
#include "bapi/report/text.h"

namespace bapi {
namespace {

struct ExplainArguments {
  std::vector<std::string> words;
  std::string format = "table";
};

const Rationale* reasons_of(const Event& event) {
  if (const auto* start = std::get_if<TrialStarted>(&event)) return &start->why;
  if (const auto* resume = std::get_if<TrialResumed>(&event)) return &resume->why;
  if (const auto* stop = std::get_if<TrialStopped>(&event)) return &stop->why;
  return nullptr;
}

std::string what_was_decided(const Event& event, const StudySpec& spec) {
  if (const auto* start = std::get_if<TrialStarted>(&event)) {
    return fmt::format("start trial {}, train to epoch {}", index(start->trial), start->until);
  }
  if (const auto* resume = std::get_if<TrialResumed>(&event)) {
    return fmt::format("train trial {} on to epoch {}", index(resume->trial), resume->until);
  }
  if (const auto* stop = std::get_if<TrialStopped>(&event))
    return fmt::format("stop trial {} for good", index(stop->trial));
  return describe(event, spec);
}

// Whether improvement was counted from a value beyond the best so far.
bool has_target(const Rationale& why) {
  const auto target = why.number("target");
  return target && target != why.number("incumbent");
}

std::string prediction_text(const Rationale& why, const StudySpec& spec) {
  const auto predicted = why.number("predicted");
  if (!predicted) return "";
  const auto at = why.number("at_epoch") ? why.number("at_epoch") : why.number("stop");
  std::string text = fmt::format(
      "    {} {} ± {}", spec.metric.name, short_number(*predicted), short_number(why.number("sd").value_or(0.0)));
  if (at) text += fmt::format(" is expected at epoch {}", *at);
  if (const auto best = why.number("incumbent")) text += fmt::format(", the best so far is {}", short_number(*best));
  if (has_target(why)) {
    text += fmt::format(", the rest of the budget should reach {}", short_number(*why.number("target")));
  }
  if (why.number("shortened")) {
    text += "; the budget pays for no more";
  } else if (const auto stop = why.number("stop")) {
    text += fmt::format("; it will have flattened out by epoch {}", *stop);
  }
  return text + ".\n";
}

// In the metric's unit, where it was stored in it.
std::string improvement_text(const Rationale& why) {
  if (const auto own = why.number("ei_per_cost")) return short_number(*own);
  return short_number(std::exp(why.number("log_ei_per_cost").value_or(NAN))) + " (in the model's scale)";
}

std::string one_of(const std::string& unit) { return unit == "epochs" ? "epoch" : unit; }

std::string price_text(const Rationale& why, const StudySpec& spec) {
  const auto cost = why.number("cost_to_finish") ? why.number("cost_to_finish") : why.number("cost_to_stop");
  const auto score = why.number("log_ei_per_cost");
  if (!cost || !score || !why.number("predicted")) return "";
  std::string text = fmt::format("    To get there costs {}; expected improvement on {} per {}: {}",
                                 short_cost(*cost, spec.budget),
                                 has_target(why) ? "what the budget should reach" : "the best",
                                 one_of(spec.budget.unit),
                                 improvement_text(why));
  if (const auto other = why.number("its_log_ei_per_cost")) {
    const double rival = why.number("preferred_to").value_or(-1.0);
    text += fmt::format(", {:.3g} times that of the runner-up ({})",
                        std::exp(*score - *other),
                        rival < 0.0 ? std::string("a new configuration") : fmt::format("trial {}", rival));
  }
  if (const auto count = why.number("candidates")) text += fmt::format(", best of {}", *count);
  if (const auto runs = why.number("horizon")) {
    text += *runs == 1.0 ? std::string(", the only run of the plan")
                         : fmt::format(", chosen from a plan of {} runs", *runs);
  }
  return text + ".\n";
}

// Why the run before did not go on; for an early end the two conditions, in numbers.
std::string ending_text(const Rationale& why, std::optional<TrialId> chosen) {
  const auto trial = why.number("ended_trial");
  if (!trial) return "";
  const auto number = [&](const char* name) { return why.number(name).value_or(NAN); };
  const bool again = chosen && static_cast<double>(index(*chosen)) == *trial;
  std::string text;
  if (number("ended_early") == 1.0) {
    text = fmt::format(
        "    Trial {} {}: {} is expected at epoch {}, no better than {}, and the forecast is sure enough\n"
        "    (its deviation {} is at most {} times {}, that of today's value)",
        *trial,
        again ? "could have been ended early" : "was ended early",
        short_number(number("ended_predicted")),
        number("ended_stop"),
        short_number(number("ended_incumbent")),
        short_number(number("ended_sd")),
        number("ended_kappa"),
        short_number(number("ended_sd_now")));
  } else if (number("ended_unaffordable") == 1.0) {
    text = fmt::format(
        "    The budget does not pay for the next block of trial {} on its way to its conservative stop, epoch {}",
        *trial,
        number("ended_stop"));
  } else {
    text = fmt::format("    Trial {} has reached its conservative stop, epoch {}", *trial, number("ended_stop"));
  }
  return text +
         (again ? ";\n    the plan was made anew, and of all runs this one still promises most per cost.\n" : ".\n");
}

std::string other_numbers(const Rationale& why) {
  if (why.number("predicted") || why.numbers.empty()) return "";
  std::vector<std::string> parts;
  for (const auto& [name, value] : why.numbers) parts.push_back(fmt::format("{} {}", name, short_number(value)));
  return fmt::format("    {}.\n", fmt::join(parts, ", "));
}

std::string in_words(const StoredEvent& stored, const StudyView& study) {
  const Rationale* why = reasons_of(stored.event);
  std::string text = fmt::format("#{} after {}: {}",
                                 stored.seq,
                                 short_duration(stored.at - study.events.front().at),
                                 what_was_decided(stored.event, study.spec()));
  if (!why) return text + "\n";
  text += why->rule.empty() ? "\n" : fmt::format(": {}\n", why->rule);
  return text + prediction_text(*why, study.spec()) + price_text(*why, study.spec()) +
         ending_text(*why, trial_of(stored.event)) + other_numbers(*why);
}

Cell numbers_cell(const Rationale* why) {
  if (!why) return {};
  Fields fields;
  for (const auto& [name, value] : why->numbers) fields.emplace_back(name, value);
  return Cell(std::move(fields));
}

int explain(const ExplainArguments& arguments) {
  const Format format = parse_format(arguments.format);
  const StudyAndTrial target = study_and_trial(arguments.words);
  const StudyView study = open_study(target.study);
  if (target.trial) trial_of(study, *target.trial);
  Table table({"seq", "at", "trial", "decision", "rule", "numbers"});
  std::string words;
  for (const StoredEvent& stored : study.events) {
    if (!is_decision(stored.event)) continue;
    const std::optional<TrialId> trial = trial_of(stored.event);
    const Rationale* why = reasons_of(stored.event);
    const bool names_it = why && target.trial && why->number("ended_trial") == static_cast<double>(*target.trial);
    if (target.trial && trial != TrialId{*target.trial} && !names_it) continue;
    words += in_words(stored, study);
    table.add({stored.seq,
               stored.at,
               trial ? Cell(index(*trial)) : Cell(),
               what_was_decided(stored.event, study.spec()),
               why ? Cell(why->rule) : Cell(),
               numbers_cell(why)});
  }
  print(format == Format::table ? words : render(table, format));
  return kDone;
}

}  // namespace

Command explain_command() {
  return {.name = "explain",
          .summary = "Why every decision was taken, in words and numbers",
          .examples =
              "Examples:\n"
              "  bapi explain mlp            all decisions\n"
              "  bapi explain mlp 7          those about trial 7\n"
              "  bapi explain mlp -f json\n\n"
              "JSON: [{seq, at, trial, decision, rule, numbers: {...}}], the numbers as they were stored.",
          .declare = [](Arguments& arguments) -> std::function<int()> {
            const auto parsed = std::make_shared<ExplainArguments>();
            arguments.optional_positionals("[STUDY] [TRIAL]", parsed->words, kStudyHelp);
            arguments.option("-f,--format", parsed->format, "table (words), json or csv");
            return [parsed] { return explain(*parsed); };
          }};
}

}  // namespace bapi
