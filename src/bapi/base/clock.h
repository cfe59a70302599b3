#pragma once

#include <optional>

namespace bapi {

// Seconds, since the Unix epoch unless an implementation says otherwise. Handed in wherever time matters, so that tests
// and simulations own it.
class Clock {
 public:
  virtual ~Clock() = default;
  virtual double now() const = 0;

  // Seconds since the object was made in which the machine slept. They are not part of `now`: nothing trains meanwhile.
  virtual double asleep() const { return 0.0; }

  // What a clock on the wall shows: for deadlines and dates.
  double calendar() const { return now() + asleep(); }
};

// Never runs backwards: the system's time when the object was made, plus what the monotonic clock has counted since.
// That one stands still while the machine sleeps (CLOCK_MONOTONIC), the kernel's boot clock does not (CLOCK_BOOTTIME).
class SystemClock : public Clock {
 public:
  SystemClock();
  double now() const override;
  double asleep() const override;

 private:
  double offset_;
  double slept_before_;
};

// Seconds of processor time that the calling thread has used since it began: how long a computation takes, whatever
// else the machine is busy with.
class ThreadClock : public Clock {
 public:
  double now() const override;
};

// Stands still while everything waits for something, as a machine that sleeps does. From one thread.
class StoppableClock : public Clock {
 public:
  explicit StoppableClock(const Clock& clock) : clock_(clock) {}
  double now() const override { return clock_.now() - stopped(); }
  double asleep() const override { return clock_.asleep() + stopped(); }
  void stop() { since_ = clock_.now(); }
  void go_on() {
    before_ = stopped();
    since_.reset();
  }

 private:
  double stopped() const { return before_ + (since_ ? clock_.now() - *since_ : 0.0); }

  const Clock& clock_;
  double before_ = 0.0;          // seconds
  std::optional<double> since_;  // of what runs now
};

class ManualClock : public Clock {
 public:
  explicit ManualClock(double start = 0.0) : now_(start) {}
  double now() const override { return now_; }
  double asleep() const override { return asleep_; }
  void advance(double seconds) { now_ += seconds; }
  void set(double now) { now_ = now; }
  void sleep(double seconds) { asleep_ += seconds; }  // as a machine does

 private:
  double now_;
  double asleep_ = 0.0;
};

}  // namespace bapi
