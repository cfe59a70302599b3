#pragma once

#include <functional>
#include <span>
#include <string_view>

#include "bapi/store/store.h"
#include "bapi/study/history.h"

namespace bapi {

// Sees an event once it is in the log and in the history.
using EventListener = std::function<void(const StoredEvent&)>;

// The only way to add to the log of a study. What enters it can follow what it holds: an event to which
// `History::objection` objects is a bug of whoever wants to write it; it throws LogicError, and nothing is written.
// Every write says after which event it comes: a writer that has a rival throws StoreError at its next write.
class LogWriter {
 public:
  // `history` is what the log adds up to, `last` the number of its last event. Refers to the store.
  LogWriter(Store& store, History history, EventSeq last);

  const History& history() const { return history_; }
  EventSeq last() const { return last_; }

  // Shows every further event to `listener`.
  void listen(EventListener listener) { listener_ = std::move(listener); }

  // Facts, all or none, that survive the death of this process when the call returns, or a power cut; a decision
  // survives both. `at` is in seconds since the Unix epoch.
  void record(std::span<const Event> facts, double at);
  void record_for_good(std::span<const Event> facts, double at);
  void decide(const Event& decision, double at, std::string_view by);

  // Throws LogicError if the decision cannot follow; `by` says whose it is.
  void require_lawful(const Event& decision, std::string_view by) const;

  // What the log adds up to, for the one who goes on with it.
  History release() && { return std::move(history_); }

 private:
  void append(std::span<const Event> facts, double at, Durability durability);
  void take(const Event& event, double at);

  Store& store_;
  History history_;
  EventSeq last_;
  EventListener listener_;
};

}  // namespace bapi
