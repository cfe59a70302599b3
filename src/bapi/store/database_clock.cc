#include "bapi/store/database_clock.h"

#include <algorithm>

namespace bapi {
namespace {

constexpr double kBetweenSamples = 60.0;  // seconds

}  // namespace

double DatabaseClock::now() const {
  const std::lock_guard lock(mutex_);
  shown_ = std::max(shown_, local_.calendar() + offset_);
  return shown_;
}

void DatabaseClock::sample(double server, double sent, double received) {
  const std::lock_guard lock(mutex_);
  offset_ = server - 0.5 * (sent + received);
  sampled_ = received;
}

bool DatabaseClock::wants_sample() const {
  const std::lock_guard lock(mutex_);
  return local_.calendar() - sampled_ >= kBetweenSamples;
}

}  // namespace bapi
