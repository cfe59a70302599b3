#include "bapi/study/replay.h"

#include "bapi/study/codec.h"

namespace bapi {

std::optional<Damage> take_up(const StoredEvent& stored, History& history) {
  if (std::optional<std::string> objection = history.objection(stored.event)) {
    return Damage{.seq = stored.seq, .kind = std::string(kind_of(stored.event)), .reason = std::move(*objection)};
  }
  history.apply(stored.event);
  return std::nullopt;
}

History replay(const StudySpec& spec, std::span<const StoredEvent> events) {
  History history(spec);
  for (const StoredEvent& stored : events) history.apply(stored.event);
  return history;
}

Replay replay(const StudySpec& spec, EventLog log) {
  History history(spec);
  for (auto event = log.events.begin(); event != log.events.end(); ++event) {
    if (std::optional<Damage> damage = take_up(*event, history)) {
      log.damage = std::move(damage);
      log.events.erase(event, log.events.end());
      break;
    }
  }
  return {.events = std::move(log.events), .history = std::move(history), .damage = std::move(log.damage)};
}

}  // namespace bapi
