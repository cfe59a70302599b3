#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <string>

#include "bapi/base/clock.h"
#include "bapi/control/evaluator.h"
#include "bapi/store/dispatch.h"

namespace bapi {

struct WorkerOptions {
  WorkerCard card = {};
  double grace = 2.0;  // seconds that the evaluator's programs need to end; the evaluator must use the same
  int smooth = 1;      // of the study's metric

  // Becomes true when the worker has to go (walltime, preemption, Ctrl-C): its trials are paused at their checkpoints.
  const std::atomic<bool>* leave = nullptr;

  // Nobody leads the study: called about once a second while that is so and the study is open.
  std::function<void()> leader_missing = {};

  // Is told why it waits, once a minute, and when it has to begin anew.
  std::function<void(const std::string&)> remark = {};

  // Called several times a second.
  std::function<void()> observer = {};

  std::function<void(double)> sleep = {};  // seconds; not set: as this thread does

  double patience = 600.0;  // seconds for which a dispatch that cannot be reached is tried again
  double tick = 0.2;        // seconds between two looks
  double gather = 1.0;      // seconds for which plain reports are gathered
};

enum class WorkerEnd {
  finished,  // the study has ended
  left,      // it was told to go
};

// Trains what the leader of a study orders, until the study has ended or `leave` is set: takes orders, trains them with
// an evaluator of this machine, delivers the facts. Decides nothing and reads no log.
//
// What it may do is bounded by what was granted, as this machine's clock counts it from before the request was sent.
// Programs are ended their grace period and kRightMargin before the right to have them is over; so they are gone when
// it is, whether or not anybody can be reached. When the lease is over, or a delivery is refused, the worker begins a
// new life: every program is ended, what was not delivered is dropped (the leader has charged for it), and it joins
// anew.
//
// A delivery is sent at once if a segment, a process or a trial has ended; reports are gathered for a moment. It is
// kept and sent again until its receipt has come.
class WorkerLoop {
 public:
  // For every life a new one; its destructor ends what runs.
  using MakeEvaluator = std::function<std::unique_ptr<Evaluator>()>;

  // Refers to dispatch and clock, which is this machine's.
  WorkerLoop(WorkerDispatch& dispatch, MakeEvaluator make_evaluator, const Clock& clock, WorkerOptions options);

  // Throws Shortage if nobody could be reached for as long as the patience lasts.
  WorkerEnd run();

 private:
  class Backoff;
  class Complaints;
  class Life;

  WorkerDispatch& dispatch_;
  MakeEvaluator make_evaluator_;
  const Clock& clock_;
  WorkerOptions options_;
};

}  // namespace bapi
