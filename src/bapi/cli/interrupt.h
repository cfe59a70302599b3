#pragma once

#include <atomic>

namespace bapi {

// Turns SIGINT, SIGTERM, SIGHUP and SIGUSR1 (by which schedulers say that time is running out) into a flag while the
// object lives. A second SIGINT that is no echo of the
// first (it comes a quarter of a second later) ends the process at once, with the cursor given back to the terminal.
// SIGHUP stays ignored where it is (nohup).
class InterruptFlag {
 public:
  InterruptFlag();
  ~InterruptFlag();
  InterruptFlag(const InterruptFlag&) = delete;
  InterruptFlag& operator=(const InterruptFlag&) = delete;

  const std::atomic<bool>* flag() const;
};

// Until the first InterruptFlag of this process, these signals end it at once with the exit code of an interrupted run:
// there is nothing to be paused yet.
void end_when_interrupted();

}  // namespace bapi
