#include "bapi/store/patient_store.h"

#include <fmt/format.h>

#include <chrono>

namespace bapi {

bool PatientStore::append(EventSeq last, std::span<const Event> facts, double at, Durability durability) {
  return patiently([&] { return store_.append(last, facts, at, durability); });
}

bool PatientStore::append_decision(EventSeq last, const Event& decision, double at) {
  return patiently([&] { return store_.append_decision(last, decision, at); });
}

bool PatientStore::patiently(const std::function<bool()>& write) {
  using SteadyClock = std::chrono::steady_clock;
  const SteadyClock::time_point began = SteadyClock::now();
  try {
    return bapi::patiently(patience_, write);
  } catch (const Shortage& shortage) {
    throw Shortage(
        fmt::format("{}. {} tried again for {:.3g} s; nothing is lost, run the study again when there is room",
                    shortage.what(),
                    patience_.pause ? "Training was paused and the write" : "The write was",
                    std::chrono::duration<double>(SteadyClock::now() - began).count()));
  }
}

}  // namespace bapi
