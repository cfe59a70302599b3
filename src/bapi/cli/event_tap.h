#pragma once

#include <functional>
#include <span>

#include "bapi/store/store.h"

namespace bapi {

// A store that shows every event to a listener after it was written. For progress displays: nothing is read back.
class EventTap : public Store {
 public:
  using Listener = std::function<void(const Event&)>;

  EventTap(Store& store, Listener listener) : store_(store), listener_(std::move(listener)) {}

  const StudySpec& spec() const override { return store_.spec(); }
  std::vector<StoredEvent> events(EventSeq after) const override { return store_.events(after); }

  void append(std::span<const Event> facts, double at, Durability durability) override {
    store_.append(facts, at, durability);
    for (const Event& fact : facts) listener_(fact);
  }

  bool append_decision(int expected, const Event& decision, double at) override {
    if (!store_.append_decision(expected, decision, at)) return false;
    listener_(decision);
    return true;
  }

 private:
  Store& store_;
  Listener listener_;
};

}  // namespace bapi
