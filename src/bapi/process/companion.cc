#include "bapi/process/companion.h"

#include <fmt/format.h>
#include <poll.h>

#include <chrono>

#include "bapi/base/error.h"
#include "bapi/process/gpus.h"

namespace bapi {
namespace {

constexpr double kTimeToLeave = 10.0;  // seconds

std::vector<std::string> own_environment() {
  std::vector<std::string> variables;
  for (const auto& [name, value] : Machine::this_one().environment) variables.push_back(name + "=" + value);
  return variables;
}

[[noreturn]] void refuse(const Subprocess::Failure& failure) { throw StoreError(failure.message); }

Subprocess begun(const std::vector<std::string>& command, const std::filesystem::path& log) {
  auto launched = Subprocess::launch({.arguments = command,
                                      .environment = own_environment(),
                                      .output = log,
                                      .session = Launch::Session::of_this_process,
                                      .death_signal = SIGTERM});
  if (const auto* failure = std::get_if<Subprocess::Failure>(&launched)) refuse(*failure);
  auto process = std::move(std::get<Subprocess>(launched));
  if (const std::optional<Subprocess::Failure> failure = process.begin()) refuse(*failure);
  return process;
}

}  // namespace

Companion::Companion(const std::vector<std::string>& command, const std::filesystem::path& log)
    : process_(begun(command, log)) {}

Companion::~Companion() {
  tell_to_leave();
  wait(kTimeToLeave);
}

const std::optional<Exit>& Companion::look() {
  if (!exit_) exit_ = process_.poll_exit();
  return exit_;
}

void Companion::tell_to_leave() {
  if (told_ || look()) return;
  told_ = true;
  process_.signal_group(SIGTERM);
}

void Companion::wait(double seconds) {
  using Clock = std::chrono::steady_clock;
  const auto until = Clock::now() + std::chrono::duration<double>(seconds);
  while (!look() && Clock::now() < until) {
    constexpr int kGlance = 100;  // milliseconds
    pollfd ended{.fd = process_.descriptor(), .events = POLLIN, .revents = 0};
    ::poll(&ended, 1, kGlance);
  }
}

}  // namespace bapi
