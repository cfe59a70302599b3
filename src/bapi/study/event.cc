#include "bapi/study/event.h"

namespace bapi {

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
