#pragma once

#include <atomic>
#include <functional>
#include <string>

#include "bapi/control/requests.h"
#include "bapi/control/session.h"

namespace bapi {

struct TuneOptions {
  // Becomes true when the user asks to stop (Ctrl-C): running trials are paused at their checkpoints.
  const std::atomic<bool>* interrupt = nullptr;

  // Called after every change of the history and at least once per `tick` seconds. For progress displays.
  std::function<void(const Session&, const Evaluator&)> observer;

  // Called once per round of the loop and never while the policy thinks, so that it may write to the log what users ask
  // for (control/requests.h).
  std::function<Attended()> attend = {};

  double tick = 0.2;  // seconds

  bool keep_going = false;  // record failures also before anything was reported (failures.h)

  // Where the policy is asked. Beside the loop, reports, signals and limits are served while it thinks; what happens
  // meanwhile is recorded after the decision, which so depends on the log before it alone. In simulated time nothing
  // can happen meanwhile.
  enum class Thought { in_the_loop, beside_the_loop };
  Thought thought = Thought::in_the_loop;
};

enum class TuneEnd {
  finished,
  interrupted,
  too_many_failures,
  program_failed,  // it cannot be run, or failed before anything was reported: no trial is to blame
};

struct TuneSummary {
  TuneEnd end = TuneEnd::finished;
  std::string reason;
};

// Runs a study to its end: continues what was open, asks, trains, records, and ends every process when the budget or
// the deadline is reached, early enough that the grace period is paid for.
TuneSummary tune(Session& session, Evaluator& evaluator, const Clock& clock, const TuneOptions& options);

}  // namespace bapi
