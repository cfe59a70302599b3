#pragma once

#include <map>
#include <string>

#include "bapi/base/clock.h"
#include "bapi/control/worker_evaluator.h"
#include "bapi/process/guardian.h"

namespace bapi {

// The guardian of worker processes that somebody else starts, such as Python's multiprocessing. Each must have its
// `marks` in the environment it is started with, and should begin a session of its own. The process that has the guard
// may have other children; they are left alone.
class WorkerGuard {
 public:
  explicit WorkerGuard(const StudySpec& spec);

  // NAME=value, for the environment of the next worker.
  std::vector<std::string> marks() const;

  void watch(int pid);   // the next worker was started
  void kill(int pid);    // and everything that it has started
  void forget(int pid);  // it has ended: kills what it left

  Guardian& guardian() { return guardian_; }

 private:
  std::string own_mark() const;

  Guardian guardian_;
  std::map<int, int> wards_;  // by process number
  int next_ = 0;
};

// A clock that stands still while everything is paused.
class TrainingClock : public Clock {
 public:
  TrainingClock(const Clock& clock, const Guardian& guardian) : clock_(clock), guardian_(guardian) {}
  double now() const override { return clock_.now() - guardian_.paused(); }

 private:
  const Clock& clock_;
  const Guardian& guardian_;
};

// Trains in workers that have a guard: time in which they were stopped with this process is not charged, and limits are
// kept while this process is busy.
class GuardedWorkerEvaluator : public WorkerEvaluator {
 public:
  // `clock` is a TrainingClock of the guard's guardian.
  GuardedWorkerEvaluator(const StudySpec& spec,
                         WorkerPool& pool,
                         const TrainingClock& clock,
                         WorkerGuard& guard,
                         ContinuesAfter continues_after)
      : WorkerEvaluator(spec, pool, clock, std::move(continues_after)), guard_(guard) {}

  void keep_within(const RunLimits& limits) override;
  bool out_of_time() const override { return guard_.guardian().limit_passed(); }
  void pause() override { guard_.guardian().pause(); }
  void go_on() override { guard_.guardian().go_on(); }

 private:
  void look_around() override { guard_.guardian().stay_guarded(); }

  WorkerGuard& guard_;
};

}  // namespace bapi
