#pragma once

#include <optional>
#include <span>
#include <vector>

#include "bapi/study/event.h"
#include "bapi/study/history.h"
#include "bapi/study/replay.h"

namespace bapi {

// Whether a process is working on the study; the log cannot tell.
enum class Controller { absent, present };

// What a log adds up to besides its history (replay.h): its best result, and how the best grew with what was spent.

// Values are in the user's direction.
struct Best {
  TrialId trial{};
  Epoch epoch = 0;
  double value = 0.0;
  Config config;
};

// nullopt until a trial has reported.
std::optional<Best> best(const History& history);

// A reported epoch, with what the whole study had spent by then, this epoch included.
struct SpentReport {
  Cost spent = 0.0;
  double at = 0.0;  // seconds since the Unix epoch
  TrialId trial{};
  Measurement measurement = {};  // in the user's direction
  bool improves = false;         // on every report before it; the first one does
};

// Every report, in the order of the log.
std::vector<SpentReport> spent_reports(const Metric& metric, std::span<const StoredEvent> events);

// The best value so far over the cost: those of them that improve.
std::vector<SpentReport> improvements(const Metric& metric, std::span<const StoredEvent> events);

}  // namespace bapi
