#pragma once

#include "bapi/store/store.h"

namespace bapi {

// For tests, simulation and ask/tell without a file.
class MemoryStore : public Store {
 public:
  explicit MemoryStore(StudySpec spec);

  const StudySpec& spec() const override { return spec_; }
  using Store::read;
  EventLog read(EventSeq after, EventSeq most) const override;
  bool append(EventSeq last, std::span<const Event> facts, double at, Durability durability) override;
  bool append_decision(EventSeq last, const Event& decision, double at) override;

 private:
  StudySpec spec_;
  std::vector<StoredEvent> events_;
};

}  // namespace bapi
