#include "bapi/report/reasons.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>

#include "bapi/base/error.h"
#include "bapi/report/describe.h"
#include "bapi/report/text.h"
#include "bapi/study/reason_fields.h"

namespace bapi {
namespace {

using Sentences = std::vector<std::string>;

std::string rival_text(const RunnerUp& rival) {
  return rival.trial ? fmt::format("trial {}", index(*rival.trial)) : std::string("a new configuration");
}

std::string one_unit(const BudgetSpec& budget) {
  if (budget.unit == "s") return "second";
  return budget.unit == "epochs" ? "epoch" : budget.unit;
}

// Whether improvement was counted from a value beyond the best so far.
bool aims_higher(const Forecast& forecast) { return forecast.target != forecast.incumbent; }

// Two digits are enough for a deviation.
std::string shorter_number(double value) {
  return std::abs(value) < 100.0 ? fmt::format("{:.2g}", value) : short_number(value);
}

// What to tell people to expect: the mean, or the median where a few extreme values pull the mean out of the band.
double typical(const Forecast& forecast) {
  const bool extreme = forecast.mean < forecast.low() || forecast.mean > forecast.high();
  return extreme ? forecast.quantiles.at(kForecastShares.size() / 2) : forecast.mean;
}

// Logs of earlier versions have no quantiles.
std::string expected_text(const Forecast& forecast) {
  if (!forecast.quantiles.empty()) {
    return fmt::format("{} (80 %: {} to {})",
                       short_number(typical(forecast)),
                       short_number(forecast.low()),
                       short_number(forecast.high()));
  }
  return fmt::format("{} ± {}", short_number(forecast.mean), shorter_number(forecast.shown_sd));
}

void tell_wish(const Reason& why, Sentences& sentences) {
  if (!why.wish) return;
  const WishOutline& wish = *why.wish;
  const std::string policy = rule_text({.rule = wish.instead_of});
  sentences.push_back(fmt::format("It takes the place of the policy's own configuration{}",
                                  policy.empty() ? "" : fmt::format(" ({})", policy)));
  if (!wish.left_open.empty()) {
    sentences.push_back(fmt::format("{} {} not given: the policy's value{}",
                                    fmt::join(wish.left_open, ", "),
                                    wish.left_open.size() == 1 ? "was" : "were",
                                    wish.left_open.size() == 1 ? "" : "s"));
  }
}

void tell_forecast(const Reason& why, const StudySpec& spec, Sentences& sentences) {
  if (!why.forecast) return;
  const Forecast& forecast = *why.forecast;
  std::string text = fmt::format("Expected {} at epoch {}: {}; best so far {}",
                                 spec.metric.name,
                                 forecast.epoch,
                                 expected_text(forecast),
                                 short_number(forecast.incumbent));
  if (why.rule == Rule::beats_threshold) {
    text += fmt::format("; threshold {}", short_number(forecast.target));
  } else if (why.rule == Rule::improvement_at_next_rung) {
    text += fmt::format("; best by that epoch {}", short_number(forecast.target));
  } else if (aims_higher(forecast)) {
    text += fmt::format("; the remaining budget should reach {}", short_number(forecast.target));
  }
  sentences.push_back(text);
  if (forecast.shortened) {
    sentences.push_back("The budget pays for no further epoch");
  } else if (forecast.flat) {
    sentences.push_back(fmt::format("The curve should be flat by epoch {}", *forecast.flat));
  }
}

bool is_per_cost(Rule rule) {
  return rule == Rule::improvement_per_cost || rule == Rule::plan || rule == Rule::to_conservative_stop ||
         rule == Rule::score_per_cost;
}

// "4 % more than the runner-up (trial 15)", "3.2 times the runner-up (a new configuration)".
std::string comparison_text(double log_score, const RunnerUp& rival) {
  const double ratio = std::exp(log_score - rival.log_score);
  const std::string name = rival_text(rival);
  if (!std::isfinite(ratio)) return fmt::format("the runner-up ({}) has none", name);
  if (ratio >= 2.0) return fmt::format("{:.3g} times the runner-up ({})", ratio, name);
  const double percent = 100.0 * (ratio - 1.0);
  if (percent < 0.05) return fmt::format("the same as the runner-up ({})", name);
  return fmt::format("{:.2g} % more than the runner-up ({})", percent, name);
}

std::string score_text(const Reason& why, const StudySpec& spec) {
  const double score = std::exp(why.score->log);
  if (why.score->unit == ScoreUnit::probability) {
    return fmt::format("Chance to beat the threshold: {:.3g} %", 100.0 * score);
  }
  std::string text = why.forecast && aims_higher(*why.forecast) && why.rule == Rule::improvement_per_cost
                         ? "Expected improvement over that value"
                         : "Expected improvement";
  if (is_per_cost(why.rule)) text += fmt::format(" per {}", one_unit(spec.budget));
  text += score > 0.0 ? ": " + short_number(score) : ": practically none";
  if (why.score->unit == ScoreUnit::model) text += " (in the model's scale)";
  return text;
}

void tell_score(const Reason& why, const StudySpec& spec, Sentences& sentences) {
  if (why.price) {
    sentences.push_back(
        fmt::format("Training to epoch {} should cost {}", why.price->until, short_cost(why.price->cost, spec.budget)));
  }
  if (!why.score) return;
  std::string text = score_text(why, spec);
  if (why.rival && std::exp(why.score->log) > 0.0) text += ", " + comparison_text(why.score->log, *why.rival);
  if (why.candidates > 0) text += fmt::format("; {} considered", plural(why.candidates, "candidate"));
  if (why.plan) {
    text += why.plan->trials == 1 ? std::string("; the only trial of the plan")
                                  : fmt::format("; first of a plan of {} trials", why.plan->trials);
  }
  sentences.push_back(text);
}

// Why the trial before did not continue; for an early end the two conditions, in numbers.
void tell_check(const BlockCheck& check, TrialId chosen, Sentences& sentences) {
  const std::int64_t trial = index(check.trial);
  const bool again = check.trial == chosen;
  switch (check.outcome) {
    case CheckOutcome::continues:
      return;
    case CheckOutcome::ended_early:
      sentences.push_back(
          fmt::format("Trial {} {}: {} expected at epoch {} is no better than {}, and the forecast is certain enough "
                      "(its deviation {} is at most {} times {}, that of the current value)",
                      trial,
                      again ? "could have ended early" : "ended early",
                      short_number(check.mean),
                      check.stop,
                      short_number(check.incumbent),
                      short_number(check.sd),
                      short_number(check.kappa),
                      short_number(check.sd_now)));
      break;
    case CheckOutcome::at_stop:
      sentences.push_back(fmt::format("Trial {} has reached its conservative stop, epoch {}", trial, check.stop));
      break;
    case CheckOutcome::unaffordable:
      sentences.push_back(fmt::format(
          "The budget does not pay for the next epochs of trial {} (conservative stop: epoch {})", trial, check.stop));
      break;
  }
  if (again) sentences.push_back("In the new plan it is still the trial with the highest improvement per cost");
}

std::vector<std::string> standing_parts(const RungStanding& standing) {
  std::vector<std::string> parts;
  if (standing.bracket) parts.push_back(fmt::format("bracket {}", *standing.bracket));
  if (standing.bracket || standing.rank) parts.push_back(fmt::format("rung {}", standing.rung));
  if (standing.rank && standing.reached)
    parts.push_back(fmt::format("rank {} of {}", *standing.rank + 1, *standing.reached));
  if (standing.places) parts.push_back(plural(*standing.places, "place"));
  if (standing.value && standing.epoch) {
    parts.push_back(fmt::format("{} at epoch {}", short_number(*standing.value), *standing.epoch));
  } else if (standing.value) {
    parts.push_back(fmt::format("value {}", short_number(*standing.value)));
  }
  if (standing.promoted) parts.push_back(fmt::format("{} promoted", *standing.promoted));
  return parts;
}

std::string capitalised(std::string text) {
  if (!text.empty() && text[0] >= 'a' && text[0] <= 'z') text[0] = static_cast<char>(text[0] - 'a' + 'A');
  return text;
}

bool is_diagnostic(NoteKind kind) {
  return kind == NoteKind::fit_not_converged || kind == NoteKind::jitter || kind == NoteKind::constraint_contradicted;
}

std::string diagnosis(const Note& note) {
  if (note.kind == NoteKind::fit_not_converged) {
    return fmt::format("The fit of the model had not converged after {} evaluations", short_number(note.value));
  }
  if (note.kind == NoteKind::jitter) {
    return fmt::format("A jitter of {} stabilised the covariance of the model", short_number(note.value));
  }
  return fmt::format("The data contradict the assumption that curves only improve (log probability {})",
                     short_number(note.value));
}

std::string note_text(const Note& note) {
  std::string name = note.kind == NoteKind::other ? note.name : std::string(word(note.kind));
  for (char& letter : name) letter = letter == '-' ? ' ' : letter;
  return fmt::format("{} {}", name, short_number(note.value));
}

// A logarithm in the units of a model.
bool is_for_experts(const Note& note) { return note.kind == NoteKind::other && note.name.starts_with("log of "); }

void tell_notes(const Reason& why, const StudySpec& spec, Detail detail, Sentences& sentences) {
  std::vector<std::string> parts;
  for (const Note& note : why.notes) {
    if (is_diagnostic(note.kind) || (detail == Detail::normal && is_for_experts(note))) continue;
    parts.push_back(note_text(note));
  }
  if (!parts.empty()) sentences.push_back(capitalised(fmt::format("{}", fmt::join(parts, ", "))));
  if (detail == Detail::normal) return;
  if (why.forecast && why.forecast->basis) {
    const ScoreBasis& basis = *why.forecast->basis;
    sentences.push_back(
        fmt::format("On the model's scale the score used the mean {:.12g}, the standard deviation {:.12g} and the "
                    "value to improve on "
                    "{:.12g}; there, the logarithm of one unit in {} is {:.12g}",
                    basis.mean,
                    basis.sd,
                    basis.target,
                    spec.metric.name,
                    basis.log_unit));
  } else if (why.forecast && why.forecast->sd) {
    sentences.push_back(fmt::format("The score used a standard deviation of {}", short_number(*why.forecast->sd)));
  }
  for (const Note& note : why.notes) {
    if (is_diagnostic(note.kind)) sentences.push_back(diagnosis(note));
  }
}

// The numbers of a reason without its rule, the longest form first; none if it has none.
std::vector<std::string> number_forms(const Reason& why) {
  if (why.forecast) {
    const std::string value = expected_text(*why.forecast);
    return {fmt::format("{} at epoch {}", value, why.forecast->epoch), value};
  }
  if (!why.standing) return {};
  const RungStanding& standing = *why.standing;
  std::vector<std::string> forms;
  if (standing.rank && standing.reached) {
    const std::string rank = fmt::format("rank {} of {}", *standing.rank + 1, *standing.reached);
    if (standing.value) forms.push_back(fmt::format("{}, {}", rank, short_number(*standing.value)));
    forms.push_back(rank);
  } else if (standing.bracket) {
    forms.push_back(fmt::format("bracket {}, rung {}", *standing.bracket, standing.rung));
  }
  return forms;
}

// The rule in a few words.
std::string rule_label(const Reason& why) {
  switch (why.rule) {
    case Rule::from_outside:
      return "trained elsewhere";
    case Rule::finish_begun:
      return "unfinished";
    case Rule::enqueued:
      return "requested";
    case Rule::asked_for_by_user:
      return "by the user";
    case Rule::repeat:
      return why.repeat ? fmt::format("repeat of trial {}", index(why.repeat->of)) : "repeat";
    case Rule::uniform_draw:
      return "random draw";
    case Rule::improvement_per_cost:
    case Rule::plan:
      return "best per cost";
    case Rule::to_conservative_stop:
      return "on to its stop";
    case Rule::beats_threshold:
      return "best chance";
    case Rule::improvement_at_next_rung:
      return "best at next rung";
    case Rule::largest_improvement:
    case Rule::multi_step_improvement:
    case Rule::budgeted_improvement:
    case Rule::improvement_with_future:
      return "best expected";
    case Rule::nothing_fits_budget:
      return "random draw";
    case Rule::drawn_from_batch:
    case Rule::best_of_batch:
      return "from best batch";
    case Rule::score_per_cost:
      return "best score per cost";
    case Rule::new_in_bracket:
      return "new";
    case Rule::not_promoted:
      return "not promoted";
    case Rule::best_of_rung:
      return "best of rung";
    case Rule::lowest_rung:
      return "new on lowest rung";
    case Rule::best_of_short_trials:
      return "best short trial";
    case Rule::unstated:
    case Rule::own_words:
    case Rule::initial_design:
    case Rule::promoted:
    case Rule::nothing_new:
    case Rule::short_trial:
      break;
  }
  return rule_text(why);
}

// Puts the fields that it visits into a record.
class RecordWriter {
 public:
  template <typename T>
  void operator()(std::string_view name, const T& field) {
    record_.emplace_back(std::string(name), cell(field));
  }

  template <typename T>
  void if_set(std::string_view name, const T& field) {
    if (!(field == T{})) (*this)(name, field);
  }

  template <typename T>
  static Fields of(const T& value) {
    RecordWriter writer;
    fields(writer, value);
    return std::move(writer.record_);
  }

 private:
  template <typename T>
  static Cell cell(const std::optional<T>& field) {
    return cell(*field);
  }

  template <typename T>
  static Cell cell(const Rare<T>& field) {
    return cell(*field);
  }

  template <typename T>
  static Cell cell(const std::vector<T>& list) {
    std::vector<Cell> cells;
    for (const T& element : list) cells.push_back(cell(element));
    return cells;
  }

  template <typename T>
  static Cell cell(const T& field) {
    if constexpr (std::is_same_v<T, TrialId>) {
      return index(field);
    } else if constexpr (Named<T>) {
      return word(field);
    } else if constexpr (std::is_arithmetic_v<T> || std::is_same_v<T, std::string>) {
      return field;
    } else {
      return of(field);
    }
  }

  Fields record_;
};

std::string what_was_decided(const Event& event, const StudySpec& spec) {
  if (const auto* start = std::get_if<TrialStarted>(&event)) {
    return fmt::format("start trial {}, train to epoch {}", index(start->trial), start->until);
  }
  if (const auto* resume = std::get_if<TrialResumed>(&event)) {
    return fmt::format("continue trial {} to epoch {}", index(resume->trial), resume->until);
  }
  if (const auto* stop = std::get_if<TrialStopped>(&event)) {
    return fmt::format("stop trial {} for good", index(stop->trial));
  }
  return describe(event, spec);
}

bool concerns(const Event& event, TrialId trial) {
  const Reason* why = reason_of(event);
  return trial_of(event) == trial || (why && why->check && why->check->trial == trial);
}

template <typename Each>
void for_each_decision(std::span<const StoredEvent> events, std::optional<TrialId> trial, const Each& each) {
  for (const StoredEvent& stored : events) {
    if (is_decision(stored.event) && (!trial || concerns(stored.event, *trial))) each(stored);
  }
}

std::string all_words(const Reason& why, TrialId trial, const StudySpec& spec) {
  std::vector<std::string> parts = in_full(why, trial, spec, Detail::everything);
  if (const std::string rule = rule_text(why); !rule.empty()) parts.insert(parts.begin(), capitalised(rule) + ".");
  return fmt::format("{}", fmt::join(parts, " "));
}

}  // namespace

std::string rule_text(const Reason& why) {
  switch (why.rule) {
    case Rule::unstated:
      return "";
    case Rule::own_words:
      return why.own_words;
    case Rule::from_outside:
      return "trained outside this study";
    case Rule::finish_begun:
      return "finish an unfinished trial";
    case Rule::initial_design:
      return "initial design";
    case Rule::uniform_draw:
      return "uniform random draw";
    case Rule::improvement_per_cost:
      return "highest expected improvement per cost";
    case Rule::plan:
      return "highest expected improvement per cost in the plan";
    case Rule::to_conservative_stop:
      return "continue to its conservative stop";
    case Rule::beats_threshold:
      return "most likely to beat the threshold";
    case Rule::improvement_at_next_rung:
      return "highest expected improvement at the next rung";
    case Rule::largest_improvement:
      return "highest expected improvement";
    case Rule::multi_step_improvement:
      return "highest expected improvement over several trials";
    case Rule::budgeted_improvement:
      return "highest expected improvement over the trials that fit the budget";
    case Rule::nothing_fits_budget:
      return "no look-ahead fits the budget: random draw";
    case Rule::drawn_from_batch:
      return "drawn from the best batch";
    case Rule::best_of_batch:
      return "best of the best batch";
    case Rule::improvement_with_future:
      return "highest expected improvement including later trials";
    case Rule::score_per_cost:
      return "highest expected improvement of the curve score per cost";
    case Rule::new_in_bracket:
      return "new in its bracket";
    case Rule::promoted:
      return "promoted";
    case Rule::not_promoted:
      return "not among the best of its rung";
    case Rule::best_of_rung:
      return "among the best of its rung";
    case Rule::lowest_rung:
      return "new on the lowest rung";
    case Rule::nothing_new:
      return "no new configuration left";
    case Rule::short_trial:
      return "short trial";
    case Rule::best_of_short_trials:
      return "best of the short trials";
    case Rule::enqueued:
      return why.wish ? "requested by " + why.wish->by : "requested";
    case Rule::asked_for_by_user:
      return "requested by the user";
    case Rule::repeat:
      if (!why.repeat) return "repeat";
      return fmt::format("repeat {} of {} of trial {}", why.repeat->number, why.repeat->total, index(why.repeat->of));
  }
  throw LogicError("rule_text: unknown rule");
}

std::string in_brief(const Reason& why) {
  std::vector<std::string> parts;
  if (why.standing) parts = standing_parts(*why.standing);
  if (why.forecast) {
    parts.push_back(fmt::format("{} expected at epoch {}", expected_text(*why.forecast), why.forecast->epoch));
  } else if (!why.standing) {
    for (const Note& note : why.notes) {
      if (!is_diagnostic(note.kind)) parts.push_back(note_text(note));
    }
  }
  if (why.shortened_from) parts.push_back(fmt::format("budget too small for epoch {}", *why.shortened_from));
  const std::string rule = rule_text(why);
  if (parts.empty()) return rule;
  const std::string details = fmt::format("{}", fmt::join(parts, ", "));
  if (!rule.empty() && details.find('(') != std::string::npos) return fmt::format("{}, {}", rule, details);
  return fmt::format("{}{}({})", rule, rule.empty() ? "" : " ", details);
}

std::vector<std::string> brief_forms(const Reason& why) {
  const std::string full = in_brief(why);
  if (full.empty()) return {};
  std::vector<std::string> forms;
  if (why.score && why.rival) forms.push_back(full + "; " + comparison_text(why.score->log, *why.rival));
  forms.push_back(full);
  const std::string label = rule_label(why);
  const std::vector<std::string> numbers = number_forms(why);
  if (numbers.empty()) forms.push_back(label);
  for (const std::string& form : numbers) {
    if (!label.empty()) forms.push_back(fmt::format("{}, {}", label, form));
  }
  for (const std::string& form : numbers) forms.push_back(form);
  return forms;
}

std::vector<std::string> in_full(const Reason& why, TrialId trial, const StudySpec& spec, Detail detail) {
  Sentences sentences;
  tell_wish(why, sentences);
  if (why.repeat) {
    sentences.push_back(
        fmt::format("Trial {} is one of the finalists: its configuration is trained again, for as many epochs and with "
                    "another seed",
                    index(why.repeat->of)));
  }
  tell_forecast(why, spec, sentences);
  tell_score(why, spec, sentences);
  if (why.check) tell_check(*why.check, trial, sentences);
  if (why.standing) {
    const std::vector<std::string> parts = standing_parts(*why.standing);
    if (!parts.empty()) sentences.push_back(capitalised(fmt::format("{}", fmt::join(parts, ", "))));
  }
  if (why.shortened_from) {
    sentences.push_back(fmt::format("The budget does not pay for training to epoch {}", *why.shortened_from));
  }
  tell_notes(why, spec, detail, sentences);
  for (std::string& sentence : sentences) sentence += ".";
  return sentences;
}

Fields record_of(const Reason& why) { return RecordWriter::of(why); }
Fields record_of(const TrialAssignment& assignment) { return RecordWriter::of(assignment); }

std::string explanation_text(std::span<const StoredEvent> events,
                             const StudySpec& spec,
                             std::optional<TrialId> trial,
                             Detail detail) {
  std::string text;
  for_each_decision(events, trial, [&](const StoredEvent& stored) {
    text += fmt::format("#{} after {}: {}",
                        stored.seq,
                        short_duration(stored.at - events.front().at),
                        what_was_decided(stored.event, spec));
    const Reason* why = reason_of(stored.event);
    const std::string rule = why ? rule_text(*why) : "";
    text += rule.empty() ? "\n" : fmt::format(": {}\n", rule);
    if (!why) return;
    for (const std::string& sentence : in_full(*why, *trial_of(stored.event), spec, detail)) {
      text += fmt::format("    {}\n", sentence);
    }
  });
  return text;
}

Table explanation_table(std::span<const StoredEvent> events, const StudySpec& spec, std::optional<TrialId> trial) {
  Table table({"seq", "at", "trial", "decision", "rule", "because", "reason", "assignment"});
  for_each_decision(events, trial, [&](const StoredEvent& stored) {
    const Reason* why = reason_of(stored.event);
    const auto* start = std::get_if<TrialStarted>(&stored.event);
    const std::optional<TrialId> about = trial_of(stored.event);
    table.add({stored.seq,
               stored.at,
               about ? Cell(index(*about)) : Cell(),
               what_was_decided(stored.event, spec),
               why ? Cell(word(why->rule)) : Cell(),
               why ? Cell(all_words(*why, *about, spec)) : Cell(),
               why ? Cell(record_of(*why)) : Cell(),
               start ? Cell(record_of(start->assignment)) : Cell()});
  });
  return table;
}

}  // namespace bapi
