#include "bapi/study/event.h"

#include "bapi/base/match.h"

namespace bapi {

std::optional<TrialId> trial_of(const Event& event) {
  return std::visit(Match{[](const StudyFinished&) -> std::optional<TrialId> { return std::nullopt; },
                          [](const BudgetChanged&) -> std::optional<TrialId> { return std::nullopt; },
                          [](const SettingsChanged&) -> std::optional<TrialId> { return std::nullopt; },
                          [](const ConfigEnqueued&) -> std::optional<TrialId> { return std::nullopt; },
                          [](const auto& other) -> std::optional<TrialId> { return other.trial; }},
                    event);
}

std::optional<TrialCharge> charge_in(const Event& event) {
  if (const auto* measured = std::get_if<Measured>(&event)) {
    return TrialCharge{
        .trial = measured->trial, .epoch = measured->measurement.epoch, .cost = measured->measurement.cost};
  }
  if (const auto* overhead = std::get_if<Overhead>(&event)) {
    return TrialCharge{.trial = overhead->trial, .epoch = overhead->epoch, .cost = overhead->cost};
  }
  return std::nullopt;
}

const Reason* reason_of(const Event& event) {
  if (const auto* start = std::get_if<TrialStarted>(&event)) return &start->why;
  if (const auto* resume = std::get_if<TrialResumed>(&event)) return &resume->why;
  if (const auto* stop = std::get_if<TrialStopped>(&event)) return &stop->why;
  return nullptr;
}

bool is_decision(const Event& event) {
  return std::holds_alternative<TrialStarted>(event) || std::holds_alternative<TrialResumed>(event) ||
         std::holds_alternative<TrialStopped>(event) || std::holds_alternative<StudyFinished>(event);
}

}  // namespace bapi
