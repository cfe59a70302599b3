#include "bapi/study/user_request.h"

namespace bapi {

Event note_event(const std::string& text) {
  return SettingsChanged{.changes = {{.field = "note", .before = "", .after = text}}};
}

}  // namespace bapi
