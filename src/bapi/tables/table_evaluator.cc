#include "bapi/tables/table_evaluator.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <tuple>

#include "bapi/base/error.h"

namespace bapi {

TableEvaluator::TableEvaluator(const CurveTable& table,
                               const StudySpec& spec,
                               ManualClock& clock,
                               TableEvaluatorOptions options)
    : table_(table), spec_(spec), clock_(clock), options_(std::move(options)) {}

TableEvaluator::Job* TableEvaluator::find(TrialId trial) {
  const auto found = std::find_if(jobs_.begin(), jobs_.end(), [&](const Job& job) { return job.trial == trial; });
  return found == jobs_.end() ? nullptr : &*found;
}

void TableEvaluator::start(const Segment& segment) {
  const double now = clock_.now();
  controller_free_ = std::max(now, controller_free_) + (options_.overhead ? options_.overhead() : 0.0);
  Job* job = find(segment.trial);
  if (!job) {
    jobs_.push_back({.trial = segment.trial,
                     .run = table_.run_of(segment.config),
                     .recorded = segment.from,
                     .trained = spec_.begins_after(segment.from)});
    job = &jobs_.back();
  }
  job->until = segment.until;
  job->since = now;
  job->ready = controller_free_;
  job->order = started_++;
  job->idle = false;
}

void TableEvaluator::release(TrialId trial) {
  const Job* job = find(trial);
  if (!job) return;
  if (!job->idle && clock_.now() > job->since) {
    pending_.push_back(Overhead{.trial = trial,
                                .kind = OverheadKind::unfinished,
                                .epoch = job->trained + 1,
                                .cost = clock_.now() - job->since});
  }
  std::erase_if(jobs_, [&](const Job& other) { return other.trial == trial; });
}

std::vector<TrialId> TableEvaluator::live() const {
  std::vector<TrialId> trials;
  for (const Job& job : jobs_) trials.push_back(job.trial);
  return trials;
}

Running TableEvaluator::running() const {
  RunningSum sum;
  for (const Job& job : jobs_) {
    if (!job.idle) sum.add_running(job.since, clock_.now());
  }
  return sum.in(spec_.budget);
}

// A record without a further epoch ends as soon as it is started.
double TableEvaluator::due(const Job& job) const {
  const std::vector<double>& cost = job.run.cost;
  const auto next = static_cast<std::size_t>(job.trained);
  return std::max(job.since, job.ready) + (next < cost.size() ? cost[next] : 0.0);
}

std::vector<Event> TableEvaluator::wait(double seconds) {
  std::vector<Event> facts;
  std::swap(facts, pending_);
  if (!facts.empty()) return facts;
  Job* next = nullptr;
  for (Job& job : jobs_) {
    if (job.idle) continue;
    if (!next || std::tuple(due(job), job.order) < std::tuple(due(*next), next->order)) next = &job;
  }
  if (!next || due(*next) > clock_.now() + seconds) {
    clock_.advance(seconds);
    return facts;
  }
  clock_.set(std::max(clock_.now(), due(*next)));
  return advance(*next);
}

std::vector<Event> TableEvaluator::advance(Job& job) {
  std::vector<Event> facts;
  const TrialId trial = job.trial;
  const CurveTable::Run& run = job.run;
  if (job.ready > job.since) {
    facts.push_back(Overhead{
        .trial = trial, .kind = OverheadKind::start_up, .epoch = job.trained + 1, .cost = job.ready - job.since});
  }
  job.since = clock_.now();
  job.ready = job.since;
  if (job.trained >= std::ssize(run.value)) {
    facts.push_back(ProgramEnded{.trial = trial});
    release(trial);
    return facts;
  }
  const auto at = static_cast<std::size_t>(job.trained++);
  if (job.trained <= job.recorded) {
    facts.push_back(Overhead{.trial = trial, .kind = OverheadKind::repeat, .epoch = job.trained, .cost = run.cost[at]});
    return facts;
  }
  if (!std::isfinite(run.value[at])) {
    facts.push_back(Overhead{.trial = trial, .kind = OverheadKind::failed, .epoch = job.trained, .cost = run.cost[at]});
    facts.push_back(TrialFailed{
        .trial = trial,
        .message = fmt::format("diverged: {} = {} at epoch {}", table_.metric.name, run.value[at], job.trained),
        .cause = FailureCause::diverged});
    release(trial);
    return facts;
  }
  job.recorded = job.trained;
  facts.push_back(Measured{.trial = trial, .measurement = {job.trained, run.value[at], run.cost[at]}});
  const bool ended = job.trained == std::ssize(run.value) && job.trained < table_.max_epoch;
  if (job.trained >= job.until) {
    facts.push_back(SegmentDone{.trial = trial});
    job.idle = true;
  }
  if (ended) {
    facts.push_back(ProgramEnded{.trial = trial});
    release(trial);
  }
  return facts;
}

}  // namespace bapi
