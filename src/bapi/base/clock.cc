#include "bapi/base/clock.h"

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

}  // namespace bapi
