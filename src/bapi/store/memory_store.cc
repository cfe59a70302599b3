#include "bapi/store/memory_store.h"

#include <algorithm>
#include <utility>

#include "bapi/base/error.h"

namespace bapi {

MemoryStore::MemoryStore(StudySpec spec) : spec_(std::move(spec)) {}

std::vector<StoredEvent> MemoryStore::events(EventSeq after) const {
  // Event n stands at position n - 1.
  const auto last = static_cast<EventSeq>(events_.size());
  return {events_.begin() + std::clamp<EventSeq>(after, 0, last), events_.end()};
}

void MemoryStore::append(std::span<const Event> facts, double at, Durability) {
  for (const Event& fact : facts) check(!is_decision(fact), "append: a decision goes through append_decision");
  for (const Event& fact : facts) {
    events_.push_back({.seq = static_cast<EventSeq>(events_.size()) + 1, .at = at, .event = fact});
  }
}

bool MemoryStore::append_decision(int expected, const Event& decision, double at) {
  check(is_decision(decision), "append_decision: a fact goes through append");
  if (decisions_ != expected) return false;
  events_.push_back({.seq = static_cast<EventSeq>(events_.size()) + 1, .at = at, .event = decision});
  ++decisions_;
  return true;
}

}  // namespace bapi
