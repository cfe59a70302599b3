#pragma once

#include <string>

#include "bapi/study/event.h"

namespace bapi {

// A remark of the user: a change of the setting "note", so that earlier versions read the log as well.
Event note_event(const std::string& text);

}  // namespace bapi
