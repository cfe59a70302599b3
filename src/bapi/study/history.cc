#include "bapi/study/history.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "bapi/base/error.h"
#include "bapi/base/match.h"
#include "bapi/study/repeats.h"
#include "bapi/study/wish.h"

namespace bapi {
namespace {

using Objection = std::optional<std::string>;

int pool_row(const std::vector<Config>& pool, const Config& config) {
  const auto found = std::find(pool.begin(), pool.end(), config);
  return found == pool.end() ? -1 : static_cast<int>(found - pool.begin());
}

Objection about(TrialId trial, Objection found) {
  if (found) found = fmt::format("trial {}: {}", index(trial), *found);
  return found;
}

Objection no_such_trial(TrialId trial) { return fmt::format("there is no trial {}", index(trial)); }

Objection bad_total(Cost total) {
  if (std::isfinite(total) && total >= 0.0) return std::nullopt;
  return fmt::format("the budget cannot become {}; expected a finite number, 0 or more", total);
}

Cost cost_of(const Event& event) { return charge_in(event).value_or(TrialCharge{}).cost; }

Objection bad_sum(Cost spent) {
  if (std::isfinite(spent)) return std::nullopt;
  return "the sum of all costs would no longer be finite";
}

Objection bad_start(const TrialStarted& start, std::ptrdiff_t next, const Space& space) {
  if (index(start.trial) != next) {
    return fmt::format("trial {} cannot start; the next one has the number {}", index(start.trial), next);
  }
  try {
    space.validate(start.config);
    return std::nullopt;
  } catch (const InvalidInput& error) {
    return fmt::format("trial {}: its configuration is not in the space: {}", next, error.what());
  }
}

Objection bad_wish(const Config& wish, const Space& space) {
  try {
    validate_wish(wish, space);
    return std::nullopt;
  } catch (const InvalidInput& error) {
    return fmt::format("an enqueued configuration is not in the space: {}", error.what());
  }
}

Objection bad_repeat(const TrialStarted& start, const std::vector<Trial>& trials) {
  const std::optional<RepeatPlace>& repeat = start.assignment.repeat;
  if (!repeat) return std::nullopt;
  const std::int64_t of = index(repeat->of);
  if (of < 0 || of >= std::ssize(trials)) return no_such_trial(repeat->of);
  const Trial& first = trials[static_cast<std::size_t>(of)];
  if (!first.assignment.repeat && first.config == start.config && repeat->number >= 2) return std::nullopt;
  return fmt::format("trial {} is not a repeat of trial {}", index(start.trial), of);
}

Objection bad_turn(const TrialStarted& start, std::optional<int> next) {
  if (!start.assignment.wish || start.assignment.wish == next) return std::nullopt;
  return fmt::format("trial {} cannot try enqueued configuration {} now", index(start.trial), *start.assignment.wish);
}

}  // namespace

History::History(StudySpec spec) : spec_(std::move(spec)), total_(spec_.budget.limit) {}

const Trial& History::trial(TrialId id) const {
  check(has(id), "History: there is no such trial");
  return trials_[static_cast<std::size_t>(index(id))];
}

Trial& History::at(TrialId id) { return const_cast<Trial&>(trial(id)); }

Budget History::budget() const {
  Cost committed = 0.0;
  for (const TrialId id : open_) committed += trial(id).segment->committed();
  Cost reserved = 0.0;
  if (spec_.repeat > 1 && !repeating_) {
    reserved = repeat_reserve(total_, spec_.repeat, full_training_cost());
    if (spec_.budget.meter == Meter::accrued) reserved = std::min(reserved + time_to_end(spec_), total_);
  }
  return Budget(total_, spent_, committed, reserved);
}

int History::planned_finalists() const { return bapi::planned_finalists(total_, spec_.repeat, full_training_cost()); }

// As far as it is known, else 0. Of the best trial if its epochs cost more than others: it may be the one to repeat.
Cost History::full_training_cost() const {
  if (spec_.budget.meter == Meter::epochs) return spec_.epochs.max;
  const std::optional<Cost> usual = mean_epoch_cost();
  return usual ? spec_.epochs.max * std::max(*usual, trial(*incumbent_).curve.mean_cost()) : 0.0;
}

std::optional<Cost> History::mean_epoch_cost() const {
  return reported_ > 0 ? std::optional(training_cost_ / static_cast<double>(reported_)) : std::nullopt;
}

std::optional<int> History::next_wish() const {
  return wishes_tried_ < std::ssize(wishes_) ? std::optional(wishes_tried_) : std::nullopt;
}

Epoch History::epochs_to_pay(const Trial& trial, Epoch until) const {
  return std::max(0, until - spec_.begins_after(trial.curve.last_epoch()));
}

std::optional<std::string> History::objection(const Event& event) const {
  if (finished_ && is_decision(event)) return "no decision can follow the end of the study";
  if (const auto* start = std::get_if<TrialStarted>(&event)) {
    if (Objection found = bad_start(*start, std::ssize(trials_), spec_.space)) return found;
    if (Objection found = bad_turn(*start, next_wish())) return found;
    if (Objection found = bad_repeat(*start, trials_)) return found;
    return about(start->trial, TrialStage().objection(event, spec_.epochs.max));
  }
  if (const auto* change = std::get_if<BudgetChanged>(&event)) return bad_total(change->total);
  if (const auto* enqueued = std::get_if<ConfigEnqueued>(&event)) return bad_wish(enqueued->wish, spec_.space);
  const std::optional<TrialId> id = trial_of(event);
  if (!id) return std::nullopt;
  if (!has(*id)) return no_such_trial(*id);
  if (Objection found = about(*id, trial(*id).stage().objection(event, spec_.epochs.max))) return found;
  return bad_sum(spent_ + cost_of(event));
}

std::optional<std::string> History::objection(std::span<const Event> facts) const {
  std::map<TrialId, TrialStage> stages;  // of trials that the batch has moved on already
  Cost spent = spent_;
  for (const Event& fact : facts) {
    spent += cost_of(fact);
    const std::optional<TrialId> id = trial_of(fact);
    const auto moved = id ? stages.find(*id) : stages.end();
    const Objection found =
        moved == stages.end() ? objection(fact) : about(*id, moved->second.objection(fact, spec_.epochs.max));
    if (found) return found;
    if (!id) continue;
    const TrialStage before = moved == stages.end() ? trial(*id).stage() : moved->second;
    stages.insert_or_assign(*id, before.after(fact, spec_.epochs.max));
  }
  return bad_sum(spent);
}

Trial& History::add_trial(const TrialStarted& decision) {
  Trial& trial = trials_.emplace_back();
  trial.id = decision.trial;
  trial.config = decision.config;
  trial.pool_row = pool_row(spec_.pool, decision.config);
  trial.why = decision.why;
  trial.assignment = decision.assignment;
  trial.curve = Curve(spec_.metric.valuation());
  if (decision.assignment.wish) ++wishes_tried_;
  if (decision.assignment.repeat) {
    repeats_.push_back(trial.id);
    repeating_ = true;
  }
  return trial;
}

void History::open_segment(Trial& trial, Epoch until, Cost expected) {
  trial.segment = OpenSegment{.from = trial.curve.last_epoch(), .until = until, .expected = expected};
  trial.asked_until = until;
  ++trial.starts;
  open_.insert(std::upper_bound(open_.begin(), open_.end(), trial.id), trial.id);
}

void History::move_on(Trial& trial, const TrialStage& after) {
  trial.state = after.state;
  if (!trial.segment || after.until) return;
  trial.segment.reset();
  trial.closed_at = decisions_;
  std::erase(open_, trial.id);
}

void History::charge(Trial& trial, Cost cost) {
  spent_ += cost;
  if (trial.segment) trial.segment->spent += cost;
  if (spent_ >= total_) overdrawn_.insert(trial.id);
}

// Of a trial whose segment is open, by the rule of the study; else by the user, who may do so as often as they like.
void History::retry(Trial& trial, Epoch until) {
  if (trial.segment) {
    ++trial.retries;
    return;
  }
  trial.retries = 0;
  trial.failure.clear();
  failures_in_a_row_ = 0;
  finished_ = false;
  finish_reason_.clear();
  open_segment(trial, until, 0.0);
}

void History::measure(const Measured& fact) {
  Trial& trial = at(fact.trial);
  const Measurement& m = fact.measurement;
  trial.curve.append({.epoch = m.epoch, .value = oriented(m.value, spec_.metric.goal), .cost = m.cost});
  if (fact.others) trial.others[m.epoch] = *fact.others;
  trial.retries = 0;
  charge(trial, m.cost);
  if (m.epoch > failed_after_) failures_in_a_row_ = 0;
  training_cost_ += m.cost;
  ++reported_;
}

// After a trial has reported, or its segment was closed. A trial that counts by its last epoch can also become worse.
void History::choose_incumbent(const Trial& changed) {
  if (changed.curve.empty()) return;
  if (!repeats_.empty()) {
    if (const std::optional<Standing> repeated = best_by_mean(*this)) {
      incumbent_ = repeated->best;
      return;
    }
  }
  if (changed.assignment.repeat) return;
  if (!incumbent_ || changed.curve.best() > trial(*incumbent_).curve.best()) {
    incumbent_ = changed.id;
  } else if (changed.id == *incumbent_ && spec_.metric.of == ValueOf::last) {
    for (const Trial& other : trials_) {
      if (other.assignment.repeat || other.curve.empty()) continue;
      if (other.curve.best() > trial(*incumbent_).curve.best()) incumbent_ = other.id;
    }
  }
}

void History::apply(const Event& event) {
  if (const Objection found = objection(event)) throw LogicError("History: " + *found);
  if (is_decision(event)) ++decisions_;
  const std::optional<TrialId> id = trial_of(event);
  if (const auto* start = std::get_if<TrialStarted>(&event)) add_trial(*start);
  const TrialStage after = id ? trial(*id).stage().after(event, spec_.epochs.max) : TrialStage();
  std::visit(Match{[&](const TrialStarted& e) { open_segment(at(e.trial), e.until, e.expected_cost); },
                   [&](const TrialResumed& e) { open_segment(at(e.trial), e.until, e.expected_cost); },
                   [](const TrialStopped&) {},
                   [&](const StudyFinished& e) {
                     finished_ = true;
                     finish_reason_ = e.reason;
                   },
                   [&](const Measured& e) { measure(e); },
                   [](const SegmentDone&) {},
                   [](const ProgramEnded&) {},
                   [&](const TrialFailed& e) {
                     at(e.trial).failure = e.message;
                     const Epoch reached = at(e.trial).curve.last_epoch();
                     failed_after_ = failures_in_a_row_ == 0 ? reached : std::min(failed_after_, reached);
                     ++failures_in_a_row_;
                   },
                   [&](const Interrupted& e) { at(e.trial).interruption = e.reason; },
                   [&](const Overhead& e) {
                     charge(at(e.trial), e.cost);
                     at(e.trial).overhead += e.cost;
                     if (e.kind == OverheadKind::unreported) at(e.trial).unreported = e.epoch;
                   },
                   [&](const BudgetChanged& e) {
                     total_ = e.total;
                     overdrawn_.clear();
                     repeating_ = false;
                     finished_ = false;
                     finish_reason_.clear();
                     failures_in_a_row_ = 0;
                   },
                   [&](const TrialRetried& e) { retry(at(e.trial), e.until); },
                   [](const SettingsChanged&) {},
                   [&](const ConfigEnqueued& e) { wishes_.push_back(e); }},
             event);
  if (!id) return;
  move_on(at(*id), after);
  choose_incumbent(trial(*id));
}

}  // namespace bapi
