#include "bapi/study/replay.h"

#include "bapi/study/codec.h"

namespace bapi {

History replay(const StudySpec& spec, std::span<const StoredEvent> events) {
  History history(spec);
  for (const StoredEvent& stored : events) history.apply(stored.event);
  return history;
}

Replay replay(const StudySpec& spec, EventLog log) {
  History history(spec);
  for (auto event = log.events.begin(); event != log.events.end(); ++event) {
    if (std::optional<std::string> objection = history.objection(event->event)) {
      log.damage =
          Damage{.seq = event->seq, .kind = std::string(kind_of(event->event)), .reason = std::move(*objection)};
      log.events.erase(event, log.events.end());
      break;
    }
    history.apply(event->event);
  }
  return {.events = std::move(log.events), .history = std::move(history), .damage = std::move(log.damage)};
}

}  // namespace bapi
