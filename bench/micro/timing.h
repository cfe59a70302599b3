#pragma once

#include <algorithm>

#include "bapi/base/clock.h"

namespace bapi::bench {

// Processor time of this thread, the least of so many repetitions.
template <typename Work>
double best_seconds(int repetitions, Work work) {
  const ThreadClock clock;
  double best = 1e9;
  for (int i = 0; i < repetitions; ++i) {
    const double start = clock.now();
    work();
    best = std::min(best, clock.now() - start);
  }
  return best;
}

}  // namespace bapi::bench
