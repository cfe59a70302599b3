#include "bapi/cli/interrupt.h"

#include <unistd.h>

#include <array>
#include <csignal>
#include <cstring>
#include <ctime>

#include "bapi/cli/exit_code.h"

namespace bapi {

namespace {

std::atomic<bool> interrupted{false};
static_assert(std::atomic<bool>::is_always_lock_free, "set in a signal handler");

constexpr std::array<int, 4> kSignals = {SIGINT, SIGTERM, SIGHUP, SIGUSR1};

void say(const char* text) { [[maybe_unused]] const auto written = write(STDERR_FILENO, text, std::strlen(text)); }

// Seconds of the monotonic clock at which the first signal came. A terminal, a launcher and a shell may each pass on
// the same Ctrl-C: only one that comes later is a second one.
std::atomic<double> first_at{0.0};
static_assert(std::atomic<double>::is_always_lock_free, "set in a signal handler");
constexpr double kDeliberate = 0.25;  // seconds; a quick double press takes about as long

double now() {
  timespec time{};
  clock_gettime(CLOCK_MONOTONIC, &time);  // may be called in a signal handler
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

extern "C" void on_signal(int signal) {
  if (!interrupted.exchange(true)) {
    first_at = now();
  } else if (signal == SIGINT && now() - first_at >= kDeliberate) {
    say(isatty(STDERR_FILENO) == 1 ? "\x1b[?25h\nbapi: killed\n" : "bapi: killed\n");
    _exit(kInterrupted);
  }
}

extern "C" void on_early_signal(int) { _exit(kInterrupted); }

bool is_ignored(int signal) {
  struct sigaction now {};
  return sigaction(signal, nullptr, &now) == 0 && now.sa_handler == SIG_IGN;
}

void install(void (*handler)(int)) {
  struct sigaction action {};
  action.sa_handler = handler;
  sigemptyset(&action.sa_mask);
  action.sa_flags = 0;  // waiting calls are to return
  for (const int signal : kSignals) {
    if (signal != SIGHUP || !is_ignored(SIGHUP)) sigaction(signal, &action, nullptr);
  }
}

}  // namespace

InterruptFlag::InterruptFlag() {
  interrupted = false;
  install(on_signal);
}

InterruptFlag::~InterruptFlag() { install(SIG_DFL); }

void end_when_interrupted() { install(on_early_signal); }

const std::atomic<bool>* InterruptFlag::flag() const { return &interrupted; }

}  // namespace bapi
