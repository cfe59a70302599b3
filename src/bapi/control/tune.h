#pragma once

#include <atomic>
#include <functional>
#include <string>

#include "bapi/control/session.h"

namespace bapi {

struct TuneOptions {
  // Becomes true when the user asks to stop (Ctrl-C): running trials are paused at their checkpoints.
  const std::atomic<bool>* interrupt = nullptr;

  // Called after every change of the history and at least once per `tick` seconds. For progress displays.
  std::function<void(const Session&, const Evaluator&)> observer;

  double tick = 0.2;  // seconds
};

enum class TuneEnd { finished, interrupted, too_many_failures };

struct TuneSummary {
  TuneEnd end = TuneEnd::finished;
  std::string reason;
};

// Runs a study to its end: continues what was open, asks, trains, records, and ends every process when the budget or
// the deadline is reached, early enough that the grace period is paid for.
TuneSummary tune(Session& session, Evaluator& evaluator, const Clock& clock, const TuneOptions& options);

}  // namespace bapi
