#pragma once

#include <optional>
#include <span>
#include <vector>

#include "bapi/study/damage.h"
#include "bapi/study/history.h"

namespace bapi {

// A study as its log tells it. Everything is as of the last event before the damage, if there is any.
struct Replay {
  std::vector<StoredEvent> events;
  History history;
  std::optional<Damage> damage;
};

// Lets `history` take up what the log says next. Where that cannot follow it is damage, and nothing is changed.
std::optional<Damage> take_up(const StoredEvent& stored, History& history);

// Of a log that is known to be sound; LogicError if it is not.
History replay(const StudySpec& spec, std::span<const StoredEvent> events);

// Stops at the first event that cannot be read or cannot follow; never throws because of what a log holds.
Replay replay(const StudySpec& spec, EventLog log);

}  // namespace bapi
