#pragma once

#include <optional>
#include <string>
#include <vector>

#include "bapi/study/event.h"

namespace bapi {

// The first event of a log that cannot be read, or cannot follow what is before it. Nothing from there on is believed.
struct Damage {
  EventSeq seq = 0;
  std::string kind = {};  // as the log has it; empty if not even that is known
  std::string reason = {};
  bool operator==(const Damage&) const = default;

  std::string text() const;  // "event 12 (resumed) is damaged: ..."
};

struct EventLog {
  std::vector<StoredEvent> events = {};  // up to the damage
  std::optional<Damage> damage = {};
};

}  // namespace bapi
