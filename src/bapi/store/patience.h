#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <string>

#include "bapi/base/file.h"

namespace bapi {

// How somebody waits for what there is none of for now: room for an event on a full disk, a drive or a database that
// answers, a log that nobody else has locked.
struct Patience {
  double seconds = 60.0;                                // after which it fails
  double every = 1.0;                                   // seconds between two attempts
  std::function<void(const std::string&)> remark = {};  // is told why, at first and then once a minute
  std::function<void()> pause = {};                     // what costs is stopped meanwhile
  std::function<void()> go_on = {};
  std::function<bool()> interrupted = {};  // asked while it waits: whether to give up
};

// The wait between the attempts of one step.
class Waiting {
 public:
  explicit Waiting(const Patience& patience) : patience_(patience) {}  // refers to it
  ~Waiting();                                                          // goes on with what was paused
  Waiting(const Waiting&) = delete;
  Waiting& operator=(const Waiting&) = delete;

  // After an attempt that failed. True when it is time for the next one, false if there shall be none.
  bool for_another(const Shortage& why);

 private:
  using SteadyClock = std::chrono::steady_clock;
  void begin();
  void tell(const Shortage& why);
  double passed() const;
  bool is_interrupted() const { return patience_.interrupted && patience_.interrupted(); }

  const Patience& patience_;
  std::optional<SteadyClock::time_point> began_;
  double tell_at_ = 0.0;  // seconds since then
};

// Does a step, again for a while if it throws Shortage; what the last attempt threw is thrown in the end. For steps
// that may be done twice.
template <typename Step>
auto patiently(const Patience& patience, const Step& step) {
  for (Waiting waiting(patience);;) {
    try {
      return step();
    } catch (const Shortage& shortage) {
      if (!waiting.for_another(shortage)) throw;
    }
  }
}

}  // namespace bapi
