#pragma once

#include <limits.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <limits>

namespace bapi {

// A value that one process writes and others read at any time, each seeing a whole one. Survives the writer's death.
template <typename Value>
class Published {
 public:
  void set(const Value& value) {
    const int next = 1 - current_.load(std::memory_order_relaxed);
    values_[static_cast<std::size_t>(next)] = value;
    current_.store(next, std::memory_order_release);
  }
  Value get() const { return values_[static_cast<std::size_t>(current_.load(std::memory_order_acquire))]; }

 private:
  std::atomic<int> current_ = 0;
  std::array<Value, 2> values_ = {};
};

struct Pause {
  double since = 0.0;   // of the monotonic clock; 0 while nothing is paused
  double before = 0.0;  // seconds of all pauses that are over
};

struct PublishedLimits {
  double from = 0.0;  // training time
  double training_seconds = std::numeric_limits<double>::infinity();
  double most_training_seconds = std::numeric_limits<double>::infinity();
  double deadline = std::numeric_limits<double>::infinity();  // of the monotonic clock
};

struct WardEnd {
  int pid = 0;
  std::uint64_t start_ticks = 0;
  double at = 0.0;
};

// A program that is watched. `pid` is written last and 0 is free.
struct Ward {
  std::atomic<int> pid = 0;
  std::uint64_t start_ticks = 0;
  double started = 0.0;            // training time
  Published<WardEnd> end;          // written by the guardian
  std::atomic<bool> held = false;  // by the controller, who will continue it
  std::array<char, PATH_MAX> file = {};

  // Training time; 0 while it runs. An end that was noted for a former program of this place does not count.
  double ended() const {
    const WardEnd noted = end.get();
    return noted.pid == pid.load() && noted.start_ticks == start_ticks ? noted.at : 0.0;
  }
};

// The memory that a controller and its guardian share.
struct GuardianPage {
  Published<Pause> pause;                  // written by the guardian
  Published<PublishedLimits> limits;       // written by the controller
  std::atomic<int> guardian = 0;           // its process; written by the controller
  std::atomic<double> looked_at = 0.0;     // by the guardian: when it last looked, of the monotonic clock
  std::atomic<int> stop_requests = 0;      // of the controller; while there is one, everything is paused
  std::atomic<bool> limit_passed = false;  // by the guardian
  int wards_size = 0;
  std::uint64_t since = 0;  // no program was started before: ticks since boot

  Ward* wards() { return reinterpret_cast<Ward*>(this + 1); }
  const Ward* wards() const { return reinterpret_cast<const Ward*>(this + 1); }
};

static_assert(std::atomic<double>::is_always_lock_free && std::atomic<int>::is_always_lock_free,
              "shared between processes");

double monotonic_seconds();

// Training time at an instant of the monotonic clock.
inline double training_time(const Pause& pause, double monotonic) {
  return (pause.since > 0.0 ? pause.since : monotonic) - pause.before;
}

// What a guardian does from its birth to its end.
struct GuardianDuty {
  GuardianPage* page;
  int controller;
  const char* mark;
  double grace;
  bool adopts_orphans;  // the controller does
};
[[noreturn]] void stand_guard(const GuardianDuty& duty);

}  // namespace bapi
