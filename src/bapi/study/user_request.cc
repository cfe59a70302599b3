#include "bapi/study/user_request.h"

namespace bapi {

Event note_event(const std::string& text) {
  return SettingsChanged{.changes = {{.field = "note", .before = "", .after = text}}};
}

Event stop_event(TrialId trial) { return TrialStopped{.trial = trial, .why = {.rule = Rule::asked_for_by_user}}; }

}  // namespace bapi
