#pragma once

#include "bapi/base/clock.h"

namespace bapi {

// What a clock on the wall shows: counts on while the machine sleeps. For what others grant until an instant, whether
// this machine is awake then or not.
class WallClock : public Clock {
 public:
  explicit WallClock(const Clock& clock) : clock_(clock) {}  // refers to it
  double now() const override { return clock_.calendar(); }

 private:
  const Clock& clock_;
};

}  // namespace bapi
