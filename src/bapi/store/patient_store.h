#pragma once

#include <functional>
#include <string>

#include "bapi/base/file.h"
#include "bapi/store/store.h"

namespace bapi {

// How a writer waits while the machine has no room for an event: a full disk, a quota, a drive that does not answer, a
// log that somebody else has locked.
struct Patience {
  double seconds = 60.0;                                // after which the write fails
  double every = 1.0;                                   // seconds between two attempts
  std::function<void(const std::string&)> remark = {};  // is told why, once per wait
  std::function<void()> pause = {};                     // what costs is stopped meanwhile
  std::function<void()> go_on = {};
  std::function<bool()> interrupted = {};  // asked while it waits: whether to give up
};

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
  bool wait_for_room(const std::function<bool()>& write, const Shortage& first);
  bool is_interrupted() const { return patience_.interrupted && patience_.interrupted(); }

  Store& store_;
  const Patience patience_;
};

}  // namespace bapi
