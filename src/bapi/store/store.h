#pragma once

#include <span>
#include <vector>

#include "bapi/study/event.h"
#include "bapi/study/spec.h"

namespace bapi {

// What appended events survive when the call returns.
enum class Durability {
  process,  // the death of this process (kill -9); a power cut may lose the last of them, never tear one
  power,    // a power cut
};

// The log of one study: its specification and every event since.
//
// Events are never changed or deleted; a batch is written whole or not at all; sequence numbers have no gaps.
// Throws StoreError when the store cannot be read or written; after a failed append nothing of it is in the log.
class Store {
 public:
  virtual ~Store() = default;

  virtual const StudySpec& spec() const = 0;
  virtual std::vector<StoredEvent> events(EventSeq after) const = 0;

  virtual void append(std::span<const Event> facts, double at, Durability durability) = 0;

  // Appends only if the log holds exactly `expected` decisions; false if another one came first. Durability::power.
  virtual bool append_decision(int expected, const Event& decision, double at) = 0;
};

}  // namespace bapi
