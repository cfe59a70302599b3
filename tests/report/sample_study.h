#pragma once

#include <cmath>
#include <string>
#include <vector>

#include "bapi/study/event.h"
#include "bapi/study/history.h"
#include "bapi/study/spec.h"

namespace bapi {

// Builds logs by hand: the events of a study, numbered and timed one second apart.
class SampleLog {
 public:
  SampleLog& add(const Event& event) {
    const EventSeq seq = std::ssize(events_) + 1;
    events_.push_back({.seq = seq, .at = 1000.0 + static_cast<double>(seq), .event = event});
    return *this;
  }
  const std::vector<StoredEvent>& events() const { return events_; }

 private:
  std::vector<StoredEvent> events_;
};

inline StudySpec sample_spec(Goal goal = Goal::maximize) {
  StudySpec spec;
  spec.name = "sample";
  spec.command = {"train"};
  spec.metric = {.name = goal == Goal::maximize ? "accuracy" : "loss", .goal = goal};
  spec.budget = {.limit = 100.0};
  spec.epochs = {.min = 1, .max = 9};
  spec.space = Space({{.name = "lr", .domain = RealRange{.low = 1e-4, .high = 1.0, .scale = Scale::log}},
                      {.name = "units", .domain = IntRange{.low = 16, .high = 256}}});
  return spec;
}

inline Config sample_config(double lr, std::int64_t units) { return {.values = {lr, units}}; }

inline Measured measured(std::int64_t trial, Epoch epoch, double value, Cost cost) {
  return {.trial = TrialId{trial}, .measurement = {.epoch = epoch, .value = value, .cost = cost}};
}

// Trial 0 is paused at epoch 2, trial 1 the incumbent (best at epoch 2, worse at 3) and completed by its own program,
// trial 2 failed without a report. Costs are chosen so that their sum depends on the order of addition.
inline SampleLog sample_log() {
  SampleLog log;
  log.add(TrialStarted{.trial = TrialId{0},
                       .config = sample_config(0.1, 32),
                       .until = 2,
                       .why = {.rule = Rule::uniform_draw, .standing = RungStanding{.bracket = 1}}})
      .add(Overhead{.trial = TrialId{0}, .kind = OverheadKind::start_up, .epoch = 1, .cost = 0.1})
      .add(measured(0, 1, 0.5, 1.1))
      .add(measured(0, 2, 0.6, 1.3))
      .add(SegmentDone{.trial = TrialId{0}})
      .add(Overhead{.trial = TrialId{0}, .kind = OverheadKind::grace, .epoch = 3, .cost = 0.7})
      .add(TrialStarted{
          .trial = TrialId{1}, .config = sample_config(0.01, 64), .until = 9, .why = {.rule = Rule::uniform_draw}})
      .add(Overhead{.trial = TrialId{1}, .kind = OverheadKind::repeat, .epoch = 1, .cost = 1e-9})
      .add(measured(1, 1, 0.7, 1e6 + 0.1))
      .add(measured(1, 2, 0.9, 2.2))
      .add(measured(1, 3, 0.8, 2.3))
      .add(ProgramEnded{.trial = TrialId{1}})
      .add(TrialStarted{
          .trial = TrialId{2}, .config = sample_config(1.0, 256), .until = 3, .why = {.rule = Rule::uniform_draw}})
      .add(Overhead{.trial = TrialId{2}, .kind = OverheadKind::failed, .epoch = 1, .cost = 0.3})
      .add(TrialFailed{.trial = TrialId{2}, .message = "exit code 1: <bad> & \"ugly\"\n"});
  return log;
}

}  // namespace bapi
