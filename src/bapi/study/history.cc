#include "bapi/study/history.h"

#include <algorithm>

#include "bapi/base/error.h"
#include "bapi/base/match.h"

namespace bapi {
namespace {

// A trial that has ended for good takes no further segment.
bool may_resume(const Trial& trial) { return trial.state == TrialState::paused && !trial.segment_open; }

int pool_row(const std::vector<Config>& pool, const Config& config) {
  const auto found = std::find(pool.begin(), pool.end(), config);
  return found == pool.end() ? -1 : static_cast<int>(found - pool.begin());
}

}  // namespace

History::History(StudySpec spec) : spec_(std::move(spec)), total_(spec_.budget.limit) {}

const Trial& History::trial(TrialId id) const {
  check(index(id) >= 0 && index(id) < std::ssize(trials_), "History: there is no such trial");
  return trials_[static_cast<std::size_t>(index(id))];
}

Trial& History::at(TrialId id) { return const_cast<Trial&>(trial(id)); }

Budget History::budget() const {
  Cost committed = 0.0;
  for (const TrialId id : open_) {
    const Trial& running = trial(id);
    committed += std::max(0.0, running.segment_expected - running.segment_spent);
  }
  return Budget(total_, spent_, committed);
}

Epoch History::epochs_to_pay(const Trial& trial, Epoch until) const {
  return spec_.checkpoint == Checkpoint::kept ? std::max(0, until - trial.curve.last_epoch()) : until;
}

void History::open_segment(Trial& trial, Epoch until, Cost expected) {
  check(until > trial.curve.last_epoch(), "History: a segment must end after the last trained epoch");
  check(until <= spec_.epochs.max, "History: a segment must end at the last epoch or before");
  trial.from = trial.curve.last_epoch();
  trial.until = until;
  trial.segment_open = true;
  trial.segment_expected = expected;
  trial.segment_spent = 0.0;
  ++trial.starts;
  open_.insert(std::upper_bound(open_.begin(), open_.end(), trial.id), trial.id);
  trial.state = TrialState::running;
}

void History::close_segment(Trial& trial, TrialState state) {
  check(trial.segment_open, "History: there is no open segment to close");
  trial.segment_open = false;
  trial.closed_at = decisions_;
  std::erase(open_, trial.id);
  trial.state = state;
}

void History::charge(Trial& trial, Cost cost) {
  check(cost >= 0.0, "History: a cost is negative");
  spent_ += cost;
  trial.segment_spent += cost;
}

// A trial may run ahead of its segment, and report once more while it is being let go: these epochs are facts as well.
void History::measure(const Measured& fact) {
  Trial& trial = at(fact.trial);
  check(trial.state != TrialState::failed, "History: a failed trial cannot report");
  const Measurement& m = fact.measurement;
  check(m.epoch <= spec_.epochs.max, "History: an epoch lies past the last one");
  trial.curve.append({.epoch = m.epoch, .value = in_user_units(m.value), .cost = m.cost});
  charge(trial, m.cost);
  failures_in_a_row_ = 0;
  if (!incumbent_ || trial.curve.best() > this->trial(*incumbent_).curve.best()) incumbent_ = trial.id;
  if (trial.segment_open) {
    trial.state = TrialState::running;  // an interrupted segment goes on
  } else if (trial.state == TrialState::paused && m.epoch == spec_.epochs.max) {
    trial.state = TrialState::completed;
  }
}

void History::apply(const Event& event) {
  if (is_decision(event)) {
    check(!finished_, "History: a decision cannot follow the end of the study");
    ++decisions_;
  }
  std::visit(Match{[&](const TrialStarted& e) {
                     check(index(e.trial) == std::ssize(trials_), "History: trial numbers must be dense");
                     Trial& trial = trials_.emplace_back();
                     trial.id = e.trial;
                     trial.config = e.config;
                     trial.pool_row = pool_row(spec_.pool, e.config);
                     trial.why = e.why;
                     trial.assignment = e.assignment;
                     trial.state = TrialState::paused;
                     open_segment(trial, e.until, e.expected_cost);
                   },
                   [&](const TrialResumed& e) {
                     check(may_resume(at(e.trial)), "History: only a paused trial can be resumed");
                     open_segment(at(e.trial), e.until, e.expected_cost);
                   },
                   [&](const TrialStopped& e) {
                     check(may_resume(at(e.trial)), "History: only a paused trial can be stopped");
                     at(e.trial).state = TrialState::stopped;
                   },
                   [&](const StudyFinished& e) {
                     finished_ = true;
                     finish_reason_ = e.reason;
                   },
                   [&](const Measured& e) { measure(e); },
                   [&](const SegmentDone& e) {
                     Trial& trial = at(e.trial);
                     check(trial.curve.last_epoch() >= trial.until, "History: a segment is done before its last epoch");
                     close_segment(
                         trial,
                         trial.curve.last_epoch() >= spec_.epochs.max ? TrialState::completed : TrialState::paused);
                   },
                   [&](const ProgramEnded& e) {
                     Trial& trial = at(e.trial);
                     check(!trial.curve.empty(), "History: a program ended before its first epoch");
                     if (trial.segment_open) {
                       close_segment(trial, TrialState::completed);
                     } else if (trial.state == TrialState::paused) {
                       trial.state = TrialState::completed;
                     }
                   },
                   [&](const TrialFailed& e) {
                     Trial& trial = at(e.trial);
                     check(trial.segment_open || trial.state == TrialState::paused, "History: the trial has ended");
                     if (trial.segment_open) close_segment(trial, TrialState::failed);
                     trial.state = TrialState::failed;
                     trial.failure = e.message;
                     ++failures_in_a_row_;
                   },
                   [&](const Interrupted& e) {
                     Trial& trial = at(e.trial);
                     check(trial.segment_open, "History: only an open segment can be interrupted");
                     trial.state = TrialState::paused;
                   },
                   [&](const Overhead& e) {
                     Trial& trial = at(e.trial);
                     charge(trial, e.cost);
                     trial.overhead += e.cost;
                   },
                   [&](const BudgetChanged& e) {
                     total_ = e.total;
                     finished_ = false;
                     finish_reason_.clear();
                     failures_in_a_row_ = 0;
                   }},
             event);
}

}  // namespace bapi
