#pragma once

#include <functional>

#include "bapi/store/patience.h"
#include "bapi/store/store.h"

namespace bapi {

// A store whose appends are tried again for a while when they throw Shortage. An append that failed has written nothing
// and says after which event it comes, so that no event can be written twice.
class PatientStore : public Store {
 public:
  PatientStore(Store& store, Patience patience) : store_(store), patience_(std::move(patience)) {}

  std::string place() const override { return store_.place(); }
  const StudySpec& spec() const override { return store_.spec(); }
  using Store::read;
  EventLog read(EventSeq after, EventSeq most) const override { return store_.read(after, most); }
  bool append(EventSeq last, std::span<const Event> facts, double at, Durability durability) override;
  bool append_decision(EventSeq last, const Event& decision, double at) override;

 private:
  bool patiently(const std::function<bool()>& write);

  Store& store_;
  const Patience patience_;
};

}  // namespace bapi
