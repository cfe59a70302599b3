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
  std::string place() const override { return store_.place(); }
  EventLog read(EventSeq after) const override { return store_.read(after); }

  bool append(EventSeq last, std::span<const Event> facts, double at, Durability durability) override {
    if (!store_.append(last, facts, at, durability)) return false;
    for (const Event& fact : facts) listener_(fact);
    return true;
  }

  bool append_decision(EventSeq last, const Event& decision, double at) override {
    if (!store_.append_decision(last, decision, at)) return false;
    listener_(decision);
    return true;
  }

 private:
  Store& store_;
  Listener listener_;
};

}  // namespace bapi
