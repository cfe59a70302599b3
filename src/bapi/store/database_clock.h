#pragma once

#include <mutex>

#include "bapi/base/clock.h"

namespace bapi {

// The time of a database server, advanced by this machine's clock between samples; never runs backwards. What this
// machine sleeps is part of it: others go on meanwhile. For several threads.
class DatabaseClock : public Clock {
 public:
  // Shows this machine's time until the first sample. Refers to the clock.
  explicit DatabaseClock(const Clock& local) : local_(local) {}

  double now() const override;

  // The server showed `server` at some instant between `sent` and `received` of the local clock's calendar.
  void sample(double server, double sent, double received);

  // Whether it is time for another sample: after a minute.
  bool wants_sample() const;

 private:
  const Clock& local_;
  mutable std::mutex mutex_;
  double offset_ = 0.0;
  double sampled_ = -1e18;
  mutable double shown_ = -1e18;
};

}  // namespace bapi
