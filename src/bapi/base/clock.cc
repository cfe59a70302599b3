#include "bapi/base/clock.h"

#include <time.h>

#include <chrono>

namespace bapi {
namespace {

template <typename ClockType>
double seconds_of() {
  return std::chrono::duration<double>(ClockType::now().time_since_epoch()).count();
}

double reading(clockid_t clock) {
  timespec time{};
  clock_gettime(clock, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

// Since the machine was started.
double slept_so_far() { return reading(CLOCK_BOOTTIME) - reading(CLOCK_MONOTONIC); }

// The two clocks are read one after the other, and time passes in between.
constexpr double kShortestSleep = 0.1;  // seconds

}  // namespace

SystemClock::SystemClock()
    : offset_(seconds_of<std::chrono::system_clock>() - seconds_of<std::chrono::steady_clock>()),
      slept_before_(slept_so_far()) {}

double SystemClock::asleep() const {
  const double slept = slept_so_far() - slept_before_;
  return slept >= kShortestSleep ? slept : 0.0;
}

double SystemClock::now() const { return seconds_of<std::chrono::steady_clock>() + offset_; }

double ThreadClock::now() const { return reading(CLOCK_THREAD_CPUTIME_ID); }

}  // namespace bapi
