#include "bapi/control/worker_evaluator.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "bapi/base/error.h"
#include "bapi/base/match.h"
#include "bapi/control/allowance.h"

namespace bapi {
namespace {

constexpr double kNegligiblePause = 1e-3;  // between a report and its answer, beside the epoch that follows

// A function that was told to pause at a report needs a moment to return, however short the grace period is; a new
// worker would cost more.
constexpr double kTimeToReturn = 0.2;  // seconds

}  // namespace

std::string_view to_string(WorkerAnswer::Kind kind) {
  switch (kind) {
    case WorkerAnswer::Kind::go_on:
      return "continue";
    case WorkerAnswer::Kind::pause:
      return "pause";
    case WorkerAnswer::Kind::stop:
      return "stop";
    case WorkerAnswer::Kind::refused:
      return "error";
  }
  throw LogicError("to_string: unknown answer");
}

WorkerEvaluator::WorkerEvaluator(const StudySpec& spec,
                                 WorkerPool& pool,
                                 const Clock& clock,
                                 ContinuesAfter continues_after)
    : spec_(spec), pool_(pool), clock_(clock), continues_after_(std::move(continues_after)) {}

std::vector<TrialId> WorkerEvaluator::live() const {
  std::vector<TrialId> trials;
  for (const auto& [trial, worker] : workers_) trials.push_back(trial);
  for (const Segment& segment : queue_) {
    if (!workers_.contains(segment.trial)) trials.push_back(segment.trial);
  }
  return trials;
}

void WorkerEvaluator::start(const Segment& segment) {
  const auto found = workers_.find(segment.trial);
  if (found == workers_.end() || found->second.released) {
    queue_.push_back(segment);  // `wait` begins it
    return;
  }
  Worker& worker = found->second;
  worker.segment = segment;
  worker.segment_open = true;
  worker.account.continue_from(segment.from, segment.paid, segment.spent);
  worker.account.raise_max_epoch(segment.max_epoch);
  close_if_done(worker);
  if (!worker.waits_for_answer || !worker.segment_open) return;            // it was told of the segment before
  if (clock_.now() - worker.account.charged_until() > kNegligiblePause) {  // that the decision took
    give(worker.account.close(OverheadKind::start_up, clock_.now()));
  }
  answer(worker, WorkerAnswer::Kind::go_on);
}

void WorkerEvaluator::release(TrialId trial) {
  std::erase_if(queue_, [&](const Segment& segment) { return segment.trial == trial; });
  const auto found = workers_.find(trial);
  if (found == workers_.end() || found->second.released) return;
  Worker& worker = found->second;
  worker.released = true;
  if (!worker.waits_for_answer) {
    worker.broken_off_at = clock_.now();
    worker.kill_at = clock_.now() + (worker.waits_for_place ? 0.0 : spec_.effective_grace());
  } else if (facts_.empty()) {
    tell_to_end(worker);  // else once its report is recorded
  }
}

void WorkerEvaluator::tell_to_end(Worker& worker) {
  if (!worker.kill_at) worker.kill_at = clock_.now() + std::max(spec_.effective_grace(), kTimeToReturn);
  const bool over = worker.account.last_epoch() >= spec_.epochs.max;
  answer(worker, over ? WorkerAnswer::Kind::stop : WorkerAnswer::Kind::pause);
}

void WorkerEvaluator::answer(Worker& worker, WorkerAnswer::Kind kind) {
  worker.waits_for_answer = false;
  pool_.answer(worker.segment.trial, {.kind = kind, .until = worker.segment.until});
}

// What was reported is in the log by now.
void WorkerEvaluator::answer_recorded_reports() {
  for (auto& [trial, worker] : workers_) {
    if (!worker.waits_for_answer) continue;
    if (worker.released) {
      tell_to_end(worker);
    } else if (worker.segment_open) {
      answer(worker, WorkerAnswer::Kind::go_on);
    }
  }
}

void WorkerEvaluator::fill_slots() {
  for (auto next = queue_.begin(); next != queue_.end();) {
    if (workers_.contains(next->trial)) {
      ++next;
    } else if (next->from >= next->until) {
      facts_.emplace_back(SegmentDone{.trial = next->trial});
      next = queue_.erase(next);
    } else if (std::ssize(workers_) < spec_.workers) {
      begin(*next);
      next = queue_.erase(next);
    } else {
      ++next;
    }
  }
}

void WorkerEvaluator::begin(const Segment& segment) {
  Segment told = segment;
  told.from = spec_.begins_after(segment.from);
  if (continues_after_) told.from = continues_after_(segment.trial, told.from);
  workers_.emplace(
      segment.trial,
      Worker{.segment = segment,
             .account = ProcessAccount(spec_, ProcessAccount::Opening::of(segment, told.from, clock_.now()))});
  pool_.start(told);
}

std::vector<Event> WorkerEvaluator::wait(double seconds) {
  const double until = clock_.now() + seconds;
  while (true) {
    if (facts_.empty()) {
      answer_recorded_reports();
      fill_slots();
    }
    const double pause = facts_.empty() ? std::min(until, next_kill()) - clock_.now() : 0.0;
    for (const WorkerMessage& message : pool_.wait(std::max(0.0, pause))) take(message);
    keep_limits();
    if (!facts_.empty() || clock_.now() >= until) return std::exchange(facts_, {});
  }
}

bool WorkerEvaluator::serve() {
  if (facts_.empty()) fill_slots();
  for (const WorkerMessage& message : pool_.wait(0.0)) take(message);
  keep_limits();
  return !facts_.empty();
}

void WorkerEvaluator::keep_limits() {
  look_around();
  for (auto& [trial, worker] : workers_) {
    if (worker.killed || !worker.kill_at || clock_.now() < *worker.kill_at) continue;
    worker.killed = true;
    pool_.kill(trial);
  }
}

double WorkerEvaluator::next_kill() const {
  double next = std::numeric_limits<double>::infinity();
  for (const auto& [trial, worker] : workers_) {
    if (worker.kill_at && !worker.killed) next = std::min(next, *worker.kill_at);
  }
  return next;
}

void WorkerEvaluator::give(const std::vector<Event>& facts) { facts_.insert(facts_.end(), facts.begin(), facts.end()); }

void WorkerEvaluator::take(const WorkerMessage& message) {
  const auto found = workers_.find(message.trial);
  if (found == workers_.end()) return;
  Worker& worker = found->second;
  const double at = clock_.now() - std::max(0.0, message.age);
  std::visit(Match{[&](const WorkerReady&) { give(worker.account.take(ReadyReport{}, at).facts); },
                   [&](const WorkerReport& report) { take_report(worker, report, at); },
                   [&](const WorkerReturned&) { conclude(worker, std::nullopt, at); },
                   [&](const WorkerRaised& raised) {
                     const FailureCause cause = raised.caught ? FailureCause::other : FailureCause::raised;
                     conclude(worker, Failure{raised.message, cause}, at);
                   },
                   [&](const WorkerDied& died) {
                     conclude(worker, Failure{died.message, FailureCause::crashed}, at);
                   },
                   [&](const WorkerLost& lost) { conclude_lost(worker, lost, at); },
                   [&](const WorkerWaits&) { worker.waits_for_place = true; },
                   [&](const WorkerPlaced&) { end_wait(worker, at); }},
             message.what);
}

void WorkerEvaluator::end_wait(Worker& worker, double at) {
  if (!std::exchange(worker.waits_for_place, false)) return;
  worker.account.begin_at(at);
}

void WorkerEvaluator::take_report(Worker& worker, const WorkerReport& told, double at) {
  worker.waits_for_answer = true;
  const EpochReport report{.epoch = told.epoch,
                           .value = told.value,
                           .cost = told.cost,
                           .others = told.others,
                           .text = fmt::format("of epoch {}, {}", told.epoch, told.value)};
  const CostSource source =
      told.cost && is_chargeable(*told.cost) ? CostSource(StatedCost{*told.cost, at}) : CostSource(MeasuredTime{at});
  const Epoch known = worker.account.last_epoch();
  const Reading reading = worker.account.take_epoch(report, source);
  if (worker.account.last_epoch() > known) losses_.erase(worker.segment.trial);
  give(reading.facts);
  if (reading.kind == Reading::Kind::failure) return refuse(worker, reading, told);
  if (reading.kind == Reading::Kind::beyond) close_past_last_epoch(worker);
  if (!told.cost && told.saving > kNegligiblePause) {
    give(worker.account.close(OverheadKind::snapshot, std::min(clock_.now(), at + told.saving)));
  }
  close_if_done(worker);
}

void WorkerEvaluator::close_if_done(Worker& worker) {
  if (!worker.segment_open || worker.account.last_epoch() < worker.segment.until) return;
  worker.segment_open = false;
  facts_.emplace_back(SegmentDone{.trial = worker.segment.trial});
}

// Of a trial whose last epoch was saved by an earlier worker and never reported: nothing more is to come.
void WorkerEvaluator::close_past_last_epoch(Worker& worker) {
  if (!worker.segment_open) return;
  worker.segment_open = false;
  if (worker.account.last_epoch() > 0) {
    facts_.emplace_back(ProgramEnded{.trial = worker.segment.trial});
  } else {
    facts_.emplace_back(
        TrialFailed{.trial = worker.segment.trial, .message = kNoEpochReported, .cause = FailureCause::wrong_report});
  }
}

// A value that is not finite is an outcome of training; any other refused report is a mistake of the function.
void WorkerEvaluator::refuse(Worker& worker, const Reading& reading, const WorkerReport& report) {
  if (worker.segment_open) {
    facts_.emplace_back(TrialFailed{.trial = worker.segment.trial, .message = reading.message, .cause = reading.cause});
  }
  worker.segment_open = false;
  worker.released = true;
  worker.kill_at = clock_.now() + spec_.effective_grace();
  worker.waits_for_answer = false;
  const bool diverged = !std::isfinite(report.value);
  pool_.answer(worker.segment.trial,
               {.kind = diverged ? WorkerAnswer::Kind::stop : WorkerAnswer::Kind::refused,
                .until = worker.segment.until,
                .message = reading.message});
}

// The worker has the trial no longer. Without having been told to end, it ended the trial by that.
void WorkerEvaluator::conclude(Worker& worker, const std::optional<Failure>& failure, double at) {
  const TrialId trial = worker.segment.trial;
  end_wait(worker, at);
  const bool by_itself = worker.segment_open && !worker.released;
  const bool failed = by_itself && (failure || worker.account.last_epoch() == 0);
  if (!failed && worker.broken_off_at) {
    give(worker.account.close(OverheadKind::unfinished, std::min(at, *worker.broken_off_at)));
  }
  give(worker.account.close(failed ? OverheadKind::failed : OverheadKind::grace, at));
  if (failed) {
    const Failure why = failure.value_or(Failure{kNoEpochReported, FailureCause::no_report});
    facts_.emplace_back(TrialFailed{.trial = trial, .message = why.message, .cause = why.cause});
  } else if (by_itself) {
    facts_.emplace_back(ProgramEnded{.trial = trial});
  }
  forget(worker);
}

// The same, but the trial is not to blame: its segment is the next to get a worker. Unless it loses one after the
// other.
void WorkerEvaluator::conclude_lost(Worker& worker, const WorkerLost& lost, double at) {
  const TrialId trial = worker.segment.trial;
  const bool by_itself = worker.segment_open && !worker.released;
  if (!by_itself) return conclude(worker, std::nullopt, at);
  if (++losses_[trial] > kMostLosses) return conclude(worker, Failure{lost.message, FailureCause::crashed}, at);
  end_wait(worker, at);
  give(worker.account.close(OverheadKind::unfinished, at));
  facts_.emplace_back(Interrupted{.trial = trial, .reason = lost.message});
  queue_.push_front(worker.segment);
  forget(worker);
}

// A segment that waits for the next worker begins where this one has ended.
void WorkerEvaluator::forget(const Worker& worker) {
  const TrialId trial = worker.segment.trial;
  for (Segment& next : queue_) {
    if (next.trial != trial) continue;
    next.from = worker.account.last_epoch();
    next.paid = worker.account.paid();
    next.continued = true;
    next.spent = worker.account.spent();
  }
  workers_.erase(trial);
}

Running WorkerEvaluator::running() const {
  RunningSum sum;
  for (const auto& [trial, worker] : workers_) {
    if (!worker.waits_for_place) sum.add_running(worker.account.charged_until(), clock_.now());
  }
  sum.add_charged(charged_by(facts_));
  return sum.in(spec_.budget);
}

}  // namespace bapi
