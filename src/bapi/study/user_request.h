#pragma once

#include <string>

#include "bapi/study/event.h"

namespace bapi {

// A remark of the user: a change of the setting "note", so that earlier versions read the log as well.
Event note_event(const std::string& text);

// The end of a trial that the user gives up, running or paused.
Event stop_event(TrialId trial);

}  // namespace bapi
