#include "bapi/study/event.h"

#include "bapi/base/error.h"

namespace bapi {

std::optional<double> Rationale::number(std::string_view name) const {
  for (const auto& [key, value] : numbers) {
    if (key == name) return value;
  }
  return std::nullopt;
}

std::string_view to_string(OverheadKind kind) {
  switch (kind) {
    case OverheadKind::start_up:
      return "start-up";
    case OverheadKind::repeat:
      return "repeat";
    case OverheadKind::grace:
      return "grace";
    case OverheadKind::failed:
      return "failed";
  }
  throw LogicError("to_string: unknown overhead kind");
}

bool is_decision(const Event& event) {
  return std::holds_alternative<TrialStarted>(event) || std::holds_alternative<TrialResumed>(event) ||
         std::holds_alternative<TrialStopped>(event) || std::holds_alternative<StudyFinished>(event);
}

}  // namespace bapi
