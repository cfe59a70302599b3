#include "bapi/study/event.h"

#include "bapi/base/error.h"

namespace bapi {

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
