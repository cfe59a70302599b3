#include "bapi/store/patience.h"

#include <fmt/format.h>

#include <algorithm>
#include <thread>

namespace bapi {
namespace {

constexpr double kGlance = 0.05;     // seconds between two looks at an interruption
constexpr double kTellEvery = 60.0;  // seconds

}  // namespace

Waiting::~Waiting() {
  if (began_ && patience_.go_on) patience_.go_on();
}

void Waiting::begin() {
  if (began_) return;
  if (patience_.pause) patience_.pause();
  began_ = SteadyClock::now();
}

double Waiting::passed() const { return std::chrono::duration<double>(SteadyClock::now() - *began_).count(); }

void Waiting::tell(const Shortage& why) {
  if (!patience_.remark || passed() < tell_at_) return;
  tell_at_ = passed() + kTellEvery;
  patience_.remark(fmt::format("{}; {}trying again", why.what(), patience_.pause ? "training is paused, " : ""));
}

bool Waiting::for_another(const Shortage& why) {
  begin();
  tell(why);
  if (passed() >= patience_.seconds) return false;
  const double until = std::min(patience_.seconds, passed() + patience_.every);
  while (!is_interrupted() && passed() < until) {
    std::this_thread::sleep_for(std::chrono::duration<double>(std::min(kGlance, patience_.every)));
  }
  return !is_interrupted();
}

}  // namespace bapi
