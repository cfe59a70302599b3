#pragma once

#include <cmath>
#include <deque>
#include <functional>
#include <memory>
#include <vector>

#include "bapi/base/clock.h"
#include "bapi/base/rng.h"
#include "bapi/control/session.h"
#include "bapi/policy/registry.h"
#include "bapi/store/memory_store.h"

namespace bapi::test {

// A training whose result depends on its seed: the truth of a configuration, luck of the trial, luck of every epoch.
struct NoisyTraining {
  double trial_noise = 0.1;
  double epoch_noise = 0.0;
  std::function<bool(const Trial&)> fails = {};  // at its first epoch

  static double truth(const Config& config) {
    const double x = std::get<double>(config.values[0]);
    return 1.0 - (x - 0.6) * (x - 0.6);
  }

  double value(const Trial& trial, Epoch epoch, Epoch last, std::uint64_t seed) const {
    const auto number = static_cast<std::uint64_t>(index(trial.id));
    Rng luck = Rng(seed).fork("trial", number);
    Rng jitter = Rng(seed).fork("trial", number).fork("epoch", static_cast<std::uint64_t>(epoch));
    const double course = 1.0 - 0.5 * std::pow(0.02, static_cast<double>(epoch) / last);
    return truth(trial.config) * course + trial_noise * luck.normal() + epoch_noise * jitter.normal();
  }
};

inline StudySpec noisy_spec(const PolicySpec& policy, Cost budget, int repeat, Epoch max_epoch = 9) {
  StudySpec spec;
  spec.name = "noisy";
  spec.metric = {.name = "score"};
  spec.budget = {.limit = budget, .unit = "epochs", .meter = Meter::epochs};
  spec.epochs = {.min = 1, .max = max_epoch};
  spec.repeat = repeat;
  spec.policy = policy;
  spec.space = Space({Param{.name = "x", .domain = RealRange{}}});
  return spec;
}

// Runs a study in a store until it ends, or `most` epochs were trained, which leaves it as a killed controller would:
// as many segments at a time as there are workers, each an epoch after the other, a cost of 1 each.
inline void train_noisy(MemoryStore& store, const NoisyTraining& training, int most = 1'000'000) {
  ManualClock clock(100.0);
  const std::unique_ptr<Policy> policy = make_policy(store.spec().policy);
  Session session(store, *policy, clock);
  const StudySpec& spec = session.history().spec();
  std::deque<Segment> open;
  for (const Segment& segment : session.open_segments()) open.push_back(segment);
  while (most > 0) {
    bool waits = session.history().finished();
    while (!waits && session.history().open_segments() < spec.workers) {
      const Action action = session.ask();
      if (const auto* segment = std::get_if<Segment>(&action)) open.push_back(*segment);
      waits = std::holds_alternative<Wait>(action) || std::holds_alternative<Finish>(action);
    }
    if (open.empty()) return;
    const Segment segment = open.front();
    open.pop_front();
    const Trial& trial = session.history().trial(segment.trial);
    const Epoch epoch = trial.curve.last_epoch() + 1;
    if (training.fails && epoch == 1 && training.fails(trial)) {
      session.record(std::vector<Event>{TrialFailed{.trial = trial.id, .message = "it fails"}});
      continue;
    }
    std::vector<Event> facts = {
        Measured{.trial = trial.id,
                 .measurement = {
                     .epoch = epoch, .value = training.value(trial, epoch, spec.epochs.max, spec.seed), .cost = 1.0}}};
    if (epoch == segment.until) facts.emplace_back(SegmentDone{.trial = trial.id});
    session.record(facts);
    --most;
    if (session.history().trial(segment.trial).segment) open.push_back(segment);
    if (session.history().budget().exhausted()) {
      session.interrupt("the budget is spent");
      session.finish("the budget is spent");
      return;
    }
  }
}

}  // namespace bapi::test
