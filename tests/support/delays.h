#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <thread>

namespace bapi::test {

// How long this machine keeps a thread waiting that has something to do: what bapi cannot be blamed for. Measured by a
// thread of its own for as long as the object lives.
class Delays {
 public:
  Delays()
      : thread_([this] {
          while (!done_) measure();
        }) {}
  ~Delays() {
    done_ = true;
    thread_.join();
  }
  Delays(const Delays&) = delete;
  Delays& operator=(const Delays&) = delete;

  double worst() const { return worst_; }  // seconds

 private:
  void measure() {
    using Clock = std::chrono::steady_clock;
    constexpr std::chrono::milliseconds kStep(20);
    const Clock::time_point begin = Clock::now();
    std::this_thread::sleep_for(kStep);
    const std::chrono::duration<double> late = Clock::now() - begin - kStep;
    worst_ = std::max(worst_.load(), late.count());
  }

  std::atomic<bool> done_ = false;
  std::atomic<double> worst_ = 0.0;
  std::thread thread_;  // last: it uses the others
};

}  // namespace bapi::test
