#pragma once

#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "bapi/study/event.h"
#include "bapi/study/history.h"
#include "bapi/study/repeats.h"
#include "bapi/study/replay.h"

namespace bapi {

// Whether a process is working on the study; the log cannot tell.
enum class Controller { absent, present };

// What a log adds up to besides its history (replay.h): its best result, and how the best grew with what was spent.

// Values are in the user's direction.
struct Best {
  TrialId trial{};
  Epoch epoch = 0;
  double value = 0.0;  // of the trial; the mean where the configuration was trained more than once
  Config config;
  double trial_value = 0.0;                   // of the trial alone
  std::optional<double> standard_error = {};  // of the mean; none for a single training
  int trainings = 1;                          // of the configuration, that count
};

// nullopt until a trial has reported.
std::optional<Best> best(const History& history);

// When the first decision was written, in seconds since the Unix epoch: the deadline of the study counts from here.
std::optional<double> first_decision_at(std::span<const StoredEvent> events);

// Whether there is nothing left to train, whatever the budget: the configurations are finitely many, all of them have
// been tried, and no trial can be continued.
bool is_exhausted(const History& history);

// A reported epoch, with what the whole study had spent by then, this epoch included.
struct SpentReport {
  Cost spent = 0.0;
  double at = 0.0;  // seconds since the Unix epoch
  TrialId trial{};
  Measurement measurement = {};  // in the user's direction
  double best = 0.0;             // the best of the study after it, in the user's direction
  // Whether the best is another by it; the first report changes it. It becomes worse only where trials count by their
  // last epoch, or configurations by the mean of several trainings.
  bool improves = false;
};

// Follows how the best of a study grows. Told of every event in order, after `history` has taken it up.
class BestFollower {
 public:
  void take(const StoredEvent& stored, const History& history);

  // nullopt until a trial has reported. Events after a report may change what it did to the best.
  const std::optional<SpentReport>& latest_report() const { return latest_; }

 private:
  std::optional<SpentReport> latest_;
  std::optional<std::pair<TrialId, double>> best_;  // to be maximised
};

// Every report, in the order of the log.
std::vector<SpentReport> spent_reports(const StudySpec& spec, std::span<const StoredEvent> events);

// The best value so far over the cost: those of them that change it.
std::vector<SpentReport> improvements(const StudySpec& spec, std::span<const StoredEvent> events);

}  // namespace bapi
