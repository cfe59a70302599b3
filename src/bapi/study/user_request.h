#pragma once

#include <map>
#include <span>
#include <string>

#include "bapi/study/event.h"

namespace bapi {

// A remark of the user: a change of the setting "note", so that earlier versions read the log as well.
Event note_event(const std::string& text);

// What another program calls a trial, for example Ray Tune: a change of the setting "other name of trial N", for the
// same reason. The last name counts.
Event other_name_event(TrialId trial, const std::string& name);
std::map<std::string, TrialId> other_names(std::span<const StoredEvent> events);

// The end of a trial that the user gives up, running or paused.
Event stop_event(TrialId trial);

}  // namespace bapi
