#include "bapi/base/clock.h"

#include <time.h>

#include <chrono>

namespace bapi {
namespace {

template <typename ClockType>
double seconds_of() {
  return std::chrono::duration<double>(ClockType::now().time_since_epoch()).count();
}

}  // namespace

SystemClock::SystemClock()
    : offset_(seconds_of<std::chrono::system_clock>() - seconds_of<std::chrono::steady_clock>()) {}

double SystemClock::now() const { return seconds_of<std::chrono::steady_clock>() + offset_; }

double ThreadClock::now() const {
  timespec used{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
  return static_cast<double>(used.tv_sec) + 1e-9 * static_cast<double>(used.tv_nsec);
}

}  // namespace bapi
