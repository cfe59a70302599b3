#pragma once

#include <atomic>

namespace bapi {

// Turns SIGINT, SIGTERM, SIGHUP and SIGUSR1 (by which schedulers say that time is running out) into a flag while the
// object lives. A second SIGINT that is no echo of the
// first (it comes a quarter of a second later) ends the process at once, with the cursor given back to the terminal.
class InterruptFlag {
 public:
  InterruptFlag();
  ~InterruptFlag();
  InterruptFlag(const InterruptFlag&) = delete;
  InterruptFlag& operator=(const InterruptFlag&) = delete;

  const std::atomic<bool>* flag() const;
};

}  // namespace bapi
