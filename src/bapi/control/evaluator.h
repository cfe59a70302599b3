#pragma once

#include <limits>
#include <vector>

#include "bapi/control/running.h"
#include "bapi/study/segment.h"

namespace bapi {

// How long what runs may go on without another word of the loop. Infinity is no limit.
struct RunLimits {
  double training_seconds;  // of all trials together
  double seconds;
  double most_training_seconds = std::numeric_limits<double>::infinity();  // with grace periods; then all is killed
};

// Trains segments somewhere, a given number of trials at a time. Not thread-safe; driven by one loop.
//
// A trial that has reached `until` may train on ("live") until it is either given its next segment by `start` or let go
// by `release`; what it reports meanwhile is a fact like any other, up to its `max_epoch`. A live trial occupies its
// slot; segments started beyond the free slots wait for one, in order. A crash of the training code is a TrialFailed
// fact, never an exception.
class Evaluator {
 public:
  virtual ~Evaluator() = default;

  // How many trials it can train at a time. May change while it works.
  virtual int slots() const = 0;

  // The next segment of a trial: continues its live process where that is possible, else begins one.
  virtual void start(const Segment& segment) = 0;

  // Ends the trial's process, if any: pause, stop. Returns at once; what it still costs arrives as facts. The open
  // segment, if any, is not closed.
  virtual void release(TrialId trial) = 0;

  // Trials that have a process (also one that is being ended) or wait for a slot, in no particular order.
  virtual std::vector<TrialId> live() const = 0;

  // Trials whose files are not to be touched: live ones, and those of which the model is still being copied.
  virtual std::vector<TrialId> in_use() const { return live(); }

  // Facts in the order they happened; empty on timeout. A Measured that reaches `until` is followed by SegmentDone.
  virtual std::vector<Event> wait(double seconds) = 0;

  // The facts that `wait` has returned are in the log, all of them.
  virtual void recorded() {}

  // Looks after what runs, without waiting, while the loop can record nothing: what happens is kept for the next
  // `wait`. True if there is such a thing.
  virtual bool serve() { return false; }

  // Stops what runs, and lets it go on: what is between costs nothing. An evaluator that cannot lets it run.
  virtual void pause() {}
  virtual void go_on() {}

  // Said before anything that may take long, such as a decision: an evaluator that can ends what runs by itself when
  // these limits are passed. Then it is `out_of_time`, and the study has to end.
  virtual void keep_within(const RunLimits&) {}
  virtual bool out_of_time() const { return false; }

  // Whether what runs is looked after when the loop has ended by an interrupt: others go on with it.
  virtual bool outlives_loop() const { return false; }

  // What the processes cost beyond the facts that were handed out, and per second of waiting.
  virtual Running running() const = 0;
};

}  // namespace bapi
