#include "bapi/process/guarded_workers.h"

#include <fmt/format.h>
#include <signal.h>
#include <time.h>

namespace bapi {
namespace {

// One that ends and its successor are watched at the same time.
int most_wards(const StudySpec& spec) { return 2 * spec.workers + 2; }

}  // namespace

WorkerGuard::WorkerGuard(const StudySpec& spec)
    : guardian_(most_wards(spec), spec.effective_grace(), Guardian::Orphans::left) {}

std::string WorkerGuard::own_mark() const { return fmt::format("BAPI_WORKER_MARK={}", next_); }

std::vector<std::string> WorkerGuard::marks() const { return {guardian_.mark(), own_mark()}; }

void WorkerGuard::watch(int pid) {
  if (const std::optional<ProcessIdentity> leader = identify(pid)) {
    wards_[pid] = guardian_.watch_marked(*leader, own_mark());
  }
  ++next_;
}

void WorkerGuard::kill(int pid) {
  if (const auto ward = wards_.find(pid); ward != wards_.end()) guardian_.signal(ward->second, SIGKILL);
}

void WorkerGuard::forget(int pid) {
  constexpr int kAttempts = 200;
  constexpr timespec kBetweenLooks = {.tv_sec = 0, .tv_nsec = 5'000'000};
  const auto ward = wards_.find(pid);
  if (ward == wards_.end()) return;
  for (int attempt = 0; attempt < kAttempts && guardian_.end_rest(ward->second) != Rest::none; ++attempt) {
    ::nanosleep(&kBetweenLooks, nullptr);
  }
  guardian_.forget(ward->second);
  wards_.erase(ward);
}

void GuardedWorkerEvaluator::keep_within(const RunLimits& limits) {
  guard_.guardian().set_limits({.training_seconds = limits.training_seconds,
                                .seconds = limits.seconds,
                                .most_training_seconds = limits.most_training_seconds});
}

}  // namespace bapi
