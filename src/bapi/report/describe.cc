#include "bapi/report/describe.h"

#include <fmt/format.h>

#include <optional>

#include "bapi/base/match.h"
#include "bapi/report/reasons.h"
#include "bapi/report/text.h"
#include "bapi/study/wish.h"

namespace bapi {

namespace {

std::string because(const Reason& why) {
  const std::string text = in_brief(why);
  return text.empty() ? "" : " · " + text;
}

// What was decided about a trial, in full and in short.
struct DecisionWords {
  std::string full;
  std::string brief;
};

std::optional<DecisionWords> decision_words(const Event& event) {
  if (const auto* start = std::get_if<TrialStarted>(&event)) {
    return DecisionWords{fmt::format("start, to epoch {}", start->until), fmt::format("start to {}", start->until)};
  }
  if (const auto* resume = std::get_if<TrialResumed>(&event)) {
    return DecisionWords{fmt::format("resume, to epoch {}", resume->until), fmt::format("resume to {}", resume->until)};
  }
  if (std::holds_alternative<TrialStopped>(event)) return DecisionWords{"stop", "stop"};
  return std::nullopt;
}

}  // namespace

std::string text_of(const SettingsChanged& event) {
  std::string out;
  for (const SettingChange& change : event.changes) {
    const std::string from = change.before.empty() ? "" : change.before + " -> ";
    out += fmt::format("{}{}: {}{}", out.empty() ? "" : "; ", change.field, from, change.after);
  }
  return out;
}

std::string describe(const Event& event, const StudySpec& spec) {
  const auto cost = [&](Cost amount) { return short_cost(amount, spec.budget); };
  return std::visit(Match{[&](const TrialStarted& e) { return decision_words(event)->full + because(e.why); },
                          [&](const TrialResumed& e) { return decision_words(event)->full + because(e.why); },
                          [&](const TrialStopped& e) { return decision_words(event)->full + because(e.why); },
                          [](const StudyFinished& e) { return fmt::format("finished: {}", e.reason); },
                          [&](const Measured& e) {
                            return fmt::format("epoch {}: {} {}, {}",
                                               e.measurement.epoch,
                                               spec.metric.name,
                                               short_number(e.measurement.value),
                                               cost(e.measurement.cost));
                          },
                          [](const SegmentDone&) { return std::string("segment done"); },
                          [](const ProgramEnded&) { return std::string("program ended by itself: completed"); },
                          [](const TrialFailed& e) { return fmt::format("failed: {}", e.message); },
                          [](const Interrupted& e) {
                            return e.reason == "interrupted" ? e.reason : fmt::format("interrupted: {}", e.reason);
                          },
                          [&](const Overhead& e) {
                            return fmt::format("{} before epoch {}: {}", word(e.kind), e.epoch, cost(e.cost));
                          },
                          [&](const BudgetChanged& e) { return fmt::format("budget is now {}", cost(e.total)); },
                          [](const TrialRetried& e) { return fmt::format("retry: {}", e.reason); },
                          [](const SettingsChanged& e) { return fmt::format("changed {}", text_of(e)); },
                          [&](const ConfigEnqueued& e) {
                            return fmt::format("to try: {} (requested by {})", wish_text(e.wish, spec.space), e.by);
                          }},
                    event);
}

std::vector<std::string> description_forms(const Event& event, const StudySpec& spec, Wording wording) {
  const std::optional<DecisionWords> decision = decision_words(event);
  if (!decision) return {describe(event, spec)};
  const std::string& words = wording == Wording::full ? decision->full : decision->brief;
  std::vector<std::string> forms;
  for (const std::string& reason : brief_forms(*reason_of(event))) forms.push_back(words + " · " + reason);
  forms.push_back(words);
  return forms;
}

}  // namespace bapi
