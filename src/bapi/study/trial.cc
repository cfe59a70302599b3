#include "bapi/study/trial.h"

#include "bapi/base/error.h"

namespace bapi {

std::string_view to_string(TrialState state) {
  switch (state) {
    case TrialState::running:
      return "running";
    case TrialState::paused:
      return "paused";
    case TrialState::completed:
      return "completed";
    case TrialState::stopped:
      return "stopped";
    case TrialState::failed:
      return "failed";
  }
  throw LogicError("to_string: unknown trial state");
}

}  // namespace bapi
