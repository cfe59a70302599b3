#pragma once

namespace bapi {

// Seconds, since the Unix epoch unless an implementation says otherwise. Handed in wherever time matters, so that tests
// and simulations own it.
class Clock {
 public:
  virtual ~Clock() = default;
  virtual double now() const = 0;
};

// Never runs backwards: the system's time when the object was made, plus what the monotonic clock has counted since.
class SystemClock : public Clock {
 public:
  SystemClock();
  double now() const override;

 private:
  double offset_;
};

// Seconds of processor time that the calling thread has used since it began: how long a computation takes, whatever
// else the machine is busy with.
class ThreadClock : public Clock {
 public:
  double now() const override;
};

class ManualClock : public Clock {
 public:
  explicit ManualClock(double start = 0.0) : now_(start) {}
  double now() const override { return now_; }
  void advance(double seconds) { now_ += seconds; }
  void set(double now) { now_ = now; }

 private:
  double now_;
};

}  // namespace bapi
