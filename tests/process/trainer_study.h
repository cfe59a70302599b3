#pragma once

#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <functional>
#include <string>
#include <vector>

#include "bapi/base/clock.h"
#include "bapi/base/file.h"
#include "bapi/process/process_evaluator.h"
#include "tests/support/temp_dir.h"

namespace bapi {

using test::TempDir;

// A study whose program is the fake trainer with these flags. Epochs are counted unless the test says otherwise.
inline StudySpec trainer_spec(const std::vector<std::string>& flags, Epoch epochs = 20) {
  StudySpec spec;
  spec.name = "fake";
  spec.command = {BAPI_FAKE_TRAINER, "--x", "${x}"};
  spec.command.insert(spec.command.end(), flags.begin(), flags.end());
  spec.metric = {.name = "accuracy", .goal = Goal::maximize};
  spec.budget = {.limit = 1000.0, .unit = "epochs", .meter = Meter::epochs};
  spec.epochs = {.min = 1, .max = epochs};
  spec.grace = 0.5;
  spec.report_timeout = 20.0;
  return spec;
}

inline StudySpec in_seconds(StudySpec spec) {
  spec.budget = {.limit = 1000.0, .unit = "s", .meter = Meter::accrued};
  return spec;
}

inline Segment segment(int trial, Epoch from, Epoch until, Epoch max_epoch = 20) {
  return {.trial = TrialId{trial}, .config = {{Value{0.5}}}, .from = from, .until = until, .max_epoch = max_epoch};
}

template <typename Fact>
std::vector<Fact> all_of(const std::vector<Event>& facts) {
  std::vector<Fact> found;
  for (const Event& fact : facts) {
    if (const auto* match = std::get_if<Fact>(&fact)) found.push_back(*match);
  }
  return found;
}

inline std::vector<Epoch> epochs_of(const std::vector<Event>& facts) {
  std::vector<Epoch> epochs;
  for (const Measured& fact : all_of<Measured>(facts)) epochs.push_back(fact.measurement.epoch);
  return epochs;
}

inline Cost charged(const std::vector<Event>& facts) {
  Cost sum = 0.0;
  for (const Measured& fact : all_of<Measured>(facts)) sum += fact.measurement.cost;
  for (const Overhead& fact : all_of<Overhead>(facts)) sum += fact.cost;
  return sum;
}

// Waits until `enough` holds of everything that was said, or a minute is over: a busy machine takes its time.
inline std::vector<Event> wait_for(Evaluator& evaluator, const std::function<bool(const std::vector<Event>&)>& enough) {
  const SystemClock clock;
  const double give_up = clock.now() + 60.0;
  std::vector<Event> facts;
  while (!enough(facts) && clock.now() < give_up) {
    const std::vector<Event> more = evaluator.wait(0.1);
    facts.insert(facts.end(), more.begin(), more.end());
  }
  return facts;
}

// Waits until no trial is live.
inline std::vector<Event> drain(Evaluator& evaluator) {
  return wait_for(evaluator, [&](const std::vector<Event>&) { return evaluator.live().empty(); });
}

template <typename Fact>
std::vector<Event> wait_for_a(Evaluator& evaluator) {
  return wait_for(evaluator, [](const std::vector<Event>& facts) { return !all_of<Fact>(facts).empty(); });
}

// Lets the trial go and waits until its process is gone.
inline std::vector<Event> let_go(Evaluator& evaluator, TrialId trial) {
  evaluator.release(trial);
  return wait_for(evaluator, [&](const std::vector<Event>&) {
    const std::vector<TrialId> live = evaluator.live();
    return std::find(live.begin(), live.end(), trial) == live.end();
  });
}

inline std::string text_of(const std::filesystem::path& file) { return read_whole_file(file).value_or(""); }

}  // namespace bapi
