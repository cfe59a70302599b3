#include "bapi/store/memory_store.h"

#include <algorithm>
#include <utility>

#include "bapi/base/error.h"

namespace bapi {

MemoryStore::MemoryStore(StudySpec spec) : spec_(std::move(spec)) {}

EventLog MemoryStore::read(EventSeq after, EventSeq most) const {
  // Event n stands at position n - 1.
  const auto last = static_cast<EventSeq>(events_.size());
  const EventSeq begin = std::clamp<EventSeq>(after, 0, last);
  const EventSeq end = begin + std::min(most, last - begin);
  return {.events = {events_.begin() + begin, events_.begin() + end}};
}

bool MemoryStore::append(EventSeq last, std::span<const Event> facts, double at, Durability) {
  for (const Event& fact : facts) check(!is_decision(fact), "append: a decision goes through append_decision");
  if (last != std::ssize(events_)) return false;
  for (const Event& fact : facts) events_.push_back({.seq = ++last, .at = at, .event = fact});
  return true;
}

bool MemoryStore::append_decision(EventSeq last, const Event& decision, double at) {
  check(is_decision(decision), "append_decision: a fact goes through append");
  if (last != std::ssize(events_)) return false;
  events_.push_back({.seq = last + 1, .at = at, .event = decision});
  return true;
}

}  // namespace bapi
