#include "bapi/control/worker_evaluator.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "bapi/base/error.h"
#include "bapi/base/match.h"

namespace bapi {
namespace {

constexpr double kNegligibleSeconds = 1e-3;  // between a report and its answer, beside the epoch that follows

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

WorkerEvaluator::WorkerEvaluator(const StudySpec& spec, WorkerPool& pool, const Clock& clock)
    : spec_(spec), pool_(pool), clock_(clock) {}

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
  check(worker.waits_for_answer, "WorkerEvaluator: the trial is being trained already");
  worker.segment = segment;
  worker.segment_open = true;
  worker.account.continue_from(segment.from, segment.spent);
  worker.account.raise_max_epoch(segment.max_epoch);
  if (clock_.now() - worker.account.charged_until() > kNegligibleSeconds) {  // that the decision took
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
  const double grace = spec_.effective_grace();
  worker.kill_at = clock_.now() + (worker.waits_for_answer ? std::max(grace, kTimeToReturn) : grace);
  if (worker.waits_for_answer) tell_to_end(worker);
}

void WorkerEvaluator::tell_to_end(Worker& worker) {
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
  workers_.emplace(segment.trial,
                   Worker{.segment = segment,
                          .account = ProcessAccount(spec_,
                                                    {.trial = segment.trial,
                                                     .last_epoch = segment.from,
                                                     .usual_epoch = segment.usual_epoch,
                                                     .spent = segment.spent,
                                                     .from = spec_.begins_after(segment.from),
                                                     .max_epoch = segment.max_epoch,
                                                     .charged_until = clock_.now()})});
  pool_.start(segment);
}

std::vector<Event> WorkerEvaluator::wait(double seconds) {
  const double until = clock_.now() + seconds;
  answer_recorded_reports();
  while (true) {
    if (facts_.empty()) {
      answer_recorded_reports();  // of reports that were no facts
      fill_slots();
    }
    const double pause = facts_.empty() ? std::min(until, next_kill()) - clock_.now() : 0.0;
    for (const WorkerMessage& message : pool_.wait(std::max(0.0, pause))) take(message);
    keep_limits();
    if (!facts_.empty() || clock_.now() >= until) return std::exchange(facts_, {});
  }
}

void WorkerEvaluator::keep_limits() {
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
                   [&](const WorkerRaised& raised) { conclude(worker, raised.message, at); },
                   [&](const WorkerDied& died) { conclude(worker, died.message, at); }},
             message.what);
}

void WorkerEvaluator::take_report(Worker& worker, const WorkerReport& told, double at) {
  worker.waits_for_answer = true;
  const EpochReport report{.epoch = told.epoch,
                           .value = told.value,
                           .cost = told.cost,
                           .text = fmt::format("of epoch {}, {}", told.epoch, told.value)};
  const CostSource source =
      told.cost && is_chargeable(*told.cost) ? CostSource(StatedCost{*told.cost, at}) : CostSource(MeasuredTime{at});
  const Reading reading = worker.account.take_epoch(report, source);
  give(reading.facts);
  if (reading.kind == Reading::Kind::failure) return refuse(worker, reading, told);
  if (worker.segment_open && worker.account.last_epoch() >= worker.segment.until) {
    worker.segment_open = false;
    facts_.emplace_back(SegmentDone{.trial = worker.segment.trial});
  }
}

// A value that is not finite is an outcome of training; any other refused report is a mistake of the function.
void WorkerEvaluator::refuse(Worker& worker, const Reading& reading, const WorkerReport& report) {
  if (worker.segment_open) {
    facts_.emplace_back(TrialFailed{.trial = worker.segment.trial, .message = reading.message});
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
void WorkerEvaluator::conclude(Worker& worker, const std::optional<std::string>& failure, double at) {
  const TrialId trial = worker.segment.trial;
  const bool by_itself = worker.segment_open && !worker.released;
  const bool failed = by_itself && (failure || worker.account.last_epoch() == 0);
  give(worker.account.close(failed ? OverheadKind::failed : OverheadKind::grace, at));
  if (failed) {
    facts_.emplace_back(TrialFailed{.trial = trial, .message = failure.value_or(kNoEpochReported)});
  } else if (by_itself) {
    facts_.emplace_back(ProgramEnded{.trial = trial});
  }
  // A segment that was started meanwhile begins where this worker has ended.
  for (Segment& next : queue_) {
    if (next.trial != trial) continue;
    next.from = worker.account.last_epoch();
    next.spent = worker.account.spent();
  }
  workers_.erase(trial);
}

Cost WorkerEvaluator::accrued() const {
  if (spec_.budget.meter != Meter::seconds) return 0.0;
  double seconds = 0.0;
  for (const auto& [trial, worker] : workers_) seconds += std::max(0.0, clock_.now() - worker.account.charged_until());
  return spec_.budget.of_seconds(seconds);
}

Cost WorkerEvaluator::accrual_rate() const {
  if (spec_.budget.meter != Meter::seconds) return 0.0;
  return spec_.budget.of_seconds(static_cast<double>(workers_.size()));
}

}  // namespace bapi
