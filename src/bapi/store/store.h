#pragma once

#include <limits>
#include <span>
#include <string>
#include <vector>

#include "bapi/base/error.h"
#include "bapi/study/damage.h"
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
// Events are never changed or deleted and numbered 1, 2, 3, ...; a batch is written whole or not at all.
// Throws StoreError when the store cannot be read or written; after a failed append nothing of it is in the log.
class Store {
 public:
  virtual ~Store() = default;

  virtual std::string place() const { return "the log"; }  // for messages: where the study is
  virtual const StudySpec& spec() const = 0;

  // The events after number `after`, up to the first that cannot be read; at most `most` of them.
  virtual EventLog read(EventSeq after, EventSeq most) const = 0;
  EventLog read(EventSeq after) const { return read(after, std::numeric_limits<EventSeq>::max()); }
  std::vector<StoredEvent> events(EventSeq after) const;  // the same; StoreError if one cannot be read

  // Append only if the log holds exactly `last` events; false, and nothing is written, if somebody else came first.
  // A writer that has not seen the whole log cannot say what may follow.
  virtual bool append(EventSeq last, std::span<const Event> facts, double at, Durability durability) = 0;
  virtual bool append_decision(EventSeq last, const Event& decision, double at) = 0;  // Durability::power

  // What is said to those who cannot work with a damaged log, or with a log that somebody else writes.
  StoreError refusal(const Damage& damage) const;
  StoreError competition() const;
};

}  // namespace bapi
