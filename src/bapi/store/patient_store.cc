#include "bapi/store/patient_store.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <thread>

namespace bapi {
namespace {

constexpr double kGlance = 0.05;  // seconds between two looks at an interruption

using SteadyClock = std::chrono::steady_clock;

double seconds_since(SteadyClock::time_point begin) {
  return std::chrono::duration<double>(SteadyClock::now() - begin).count();
}

}  // namespace

bool PatientStore::append(EventSeq last, std::span<const Event> facts, double at, Durability durability) {
  return patiently([&] { return store_.append(last, facts, at, durability); });
}

bool PatientStore::append_decision(EventSeq last, const Event& decision, double at) {
  return patiently([&] { return store_.append_decision(last, decision, at); });
}

bool PatientStore::patiently(const std::function<bool()>& write) {
  try {
    return write();
  } catch (const Shortage& shortage) {
    return wait_for_room(write, shortage);
  }
}

bool PatientStore::wait_for_room(const std::function<bool()>& write, const Shortage& first) {
  struct Pause {
    const Patience& patience;
    explicit Pause(const Patience& of) : patience(of) {
      if (patience.pause) patience.pause();
    }
    ~Pause() {
      if (patience.go_on) patience.go_on();
    }
  };
  const Pause pause(patience_);
  if (patience_.remark) patience_.remark(fmt::format("{}; training is paused, trying again", first.what()));
  const SteadyClock::time_point begin = SteadyClock::now();
  std::string why = first.what();
  while (seconds_since(begin) < patience_.seconds) {
    const double until = std::min(patience_.seconds, seconds_since(begin) + patience_.every);
    while (!is_interrupted() && seconds_since(begin) < until) {
      std::this_thread::sleep_for(std::chrono::duration<double>(std::min(kGlance, patience_.every)));
    }
    if (is_interrupted()) break;
    try {
      return write();
    } catch (const Shortage& shortage) {
      why = shortage.what();
    }
  }
  throw Shortage(
      fmt::format("{}. Training was paused and the write tried again for {:.3g} s; nothing is lost, run the "
                  "study again when there is room",
                  why,
                  seconds_since(begin)));
}

}  // namespace bapi
