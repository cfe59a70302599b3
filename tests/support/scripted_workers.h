#pragma once

#include <algorithm>
#include <functional>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "bapi/base/clock.h"
#include "bapi/control/worker_evaluator.h"

namespace bapi::test {

// Workers in simulated time, whose training functions follow a script.
class ScriptedWorkers : public WorkerPool {
 public:
  struct Script {
    // The report of an epoch; nullopt: the function returns before it.
    std::function<std::optional<WorkerReport>(const Segment& segment, Epoch epoch)> report = {};
    double seconds_per_epoch = 0.01;
    bool obeys = true;              // returns when it is told to end
    double seconds_to_place = 0.0;  // until it has a machine
    Checkpoint checkpoint = Checkpoint::kept;
  };

  ScriptedWorkers(ManualClock& clock, Script script) : clock_(clock), script_(std::move(script)) {}

  void start(const Segment& segment) override {
    const Epoch from = script_.checkpoint == Checkpoint::kept ? segment.from : 0;
    jobs_[segment.trial] = {.segment = segment, .epoch = from, .due = {}};
    if (script_.seconds_to_place == 0.0) return begin(jobs_[segment.trial]);
    say(segment.trial, WorkerWaits{});
    jobs_[segment.trial].waits = true;
    jobs_[segment.trial].due = clock_.now() + script_.seconds_to_place;
  }

  void answer(TrialId trial, const WorkerAnswer& answer) override {
    answers.emplace_back(trial, answer.kind);
    Job& job = jobs_.at(trial);
    if (answer.kind == WorkerAnswer::Kind::go_on) return train_on(job);
    if (!script_.obeys) return;
    jobs_.erase(trial);
    if (answer.kind == WorkerAnswer::Kind::refused) return say(trial, WorkerRaised{answer.message});
    say(trial, WorkerReturned{});
  }

  void kill(TrialId trial) override {
    ++kills;
    die(trial, "signal 9");
  }

  void die(TrialId trial, const std::string& message) {
    jobs_.erase(trial);
    say(trial, WorkerDied{message});
  }

  // With its machine.
  void lose(TrialId trial, const std::string& message) {
    jobs_.erase(trial);
    say(trial, WorkerLost{message});
  }

  std::vector<WorkerMessage> wait(double seconds) override {
    if (!inbox_.empty()) return std::exchange(inbox_, {});
    Job* next = nullptr;
    for (auto& [trial, job] : jobs_) {
      if (job.due && (!next || *job.due < *next->due)) next = &job;
    }
    if (!next || *next->due > clock_.now() + seconds) {
      clock_.advance(seconds);
      return {};
    }
    clock_.set(std::max(clock_.now(), *next->due));
    next->due.reset();
    const TrialId trial = next->segment.trial;
    if (std::exchange(next->waits, false)) {
      say(trial, WorkerPlaced{});
      begin(*next);
    } else if (const auto report = script_.report(next->segment, next->epoch)) {
      say(trial, *report);
    } else {
      jobs_.erase(trial);
      say(trial, WorkerReturned{});
    }
    return std::exchange(inbox_, {});
  }

  std::vector<std::pair<TrialId, WorkerAnswer::Kind>> answers;
  int kills = 0;

 private:
  struct Job {
    Segment segment;
    Epoch epoch = 0;            // in progress, or reported
    std::optional<double> due;  // when it ends; not while it waits for an answer
    bool waits = false;         // for a machine
  };

  void begin(Job& job) {
    say(job.segment.trial, WorkerReady{});
    train_on(job);
  }

  void train_on(Job& job) {
    ++job.epoch;
    job.due = clock_.now() + script_.seconds_per_epoch;
  }

  template <typename What>
  void say(TrialId trial, const What& what) {
    inbox_.push_back({.trial = trial, .what = what});
  }

  ManualClock& clock_;
  Script script_;
  std::map<TrialId, Job> jobs_;
  std::vector<WorkerMessage> inbox_;
};

}  // namespace bapi::test
