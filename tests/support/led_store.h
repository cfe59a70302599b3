#pragma once

#include <span>
#include <string>

#include "bapi/store/memory_dispatch.h"
#include "bapi/store/store.h"

namespace bapi::test {

// The log as a leader in memory writes it: only while it leads, and with what is to be settled.
class LedStore : public Store {
 public:
  // Refers to both.
  LedStore(Store& store, MemoryLead& lead) : store_(store), lead_(lead) {}

  std::string place() const override { return store_.place(); }
  const StudySpec& spec() const override { return store_.spec(); }
  using Store::read;
  EventLog read(EventSeq after, EventSeq most) const override { return store_.read(after, most); }

  bool append(EventSeq last, std::span<const Event> facts, double at, Durability durability) override {
    lead_.check_held();
    if (!store_.append(last, facts, at, durability)) return false;
    lead_.settle();
    return true;
  }

  bool append_decision(EventSeq last, const Event& decision, double at) override {
    lead_.check_held();
    return store_.append_decision(last, decision, at);
  }

 private:
  Store& store_;
  MemoryLead& lead_;
};

}  // namespace bapi::test
