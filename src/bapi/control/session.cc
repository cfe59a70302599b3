#include "bapi/control/session.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "bapi/base/error.h"
#include "bapi/base/match.h"
#include "bapi/control/allowance.h"
#include "bapi/control/process_account.h"
#include "bapi/study/replay.h"

namespace bapi {
namespace {

Past read(const Store& store) {
  Replay log = replay(store.spec(), store.read(0));
  if (log.damage) throw store.refusal(*log.damage);
  return past_of(std::move(log.history), log.events);
}

}  // namespace

Past past_of(History history, std::span<const StoredEvent> events) {
  Past past{.history = std::move(history)};
  if (events.empty()) return past;
  past.began = events.front().at;
  past.last = events.back().seq;
  return past;
}

Session::Session(Store& store, Policy& policy, const Clock& clock) : Session(store, policy, clock, read(store)) {}

Session::Session(Store& store, Policy& policy, const Clock& clock, Past past)
    : store_(store),
      policy_(policy),
      clock_(clock),
      history_(std::move(past.history)),
      started_at_(past.began.value_or(clock.now())),
      last_(past.last) {}

// Of an event that is in the log.
void Session::take(const Event& event, double at) {
  history_.apply(event);
  ++last_;
  if (listener_) listener_({.seq = last_, .at = at, .event = event});
}

Action Session::ask() {
  if (history_.finished()) return Finish{history_.finish_reason()};
  if (history_.budget().exhausted()) return wait_or_finish(kBudgetSpent);
  Rng rng = decision_stream(history_);
  const Decision decision = policy_.ask(history_, rng);
  return std::visit(Match{[&](const Start& start) { return train(start); },
                          [&](const Resume& resume) { return train(resume); },
                          [&](const Stop& stop) {
                            decide(TrialStopped{.trial = stop.trial, .why = stop.why});
                            return Action(stop);
                          },
                          [&](const Wait& wait) {
                            check(history_.open_segments() > 0, "a policy waits although nothing runs");
                            return Action(wait);
                          },
                          [&](const Finish& end) { return wait_or_finish(end.reason); }},
                    decision);
}

Action Session::train(const Start& start) {
  const auto id = TrialId{std::ssize(history_.trials())};
  TrialStarted decision{.trial = id,
                        .config = start.config,
                        .until = start.until,
                        .expected_cost = 0.0,
                        .why = start.why,
                        .assignment = start.assignment};
  refuse_unlawful(decision);
  decision.until = payable_until(history_, nullptr, start.until);
  if (decision.until < 1) return wait_or_finish(kNoEpochPayable);
  decision.expected_cost = reservation(history_, nullptr, decision.until, start.expected_cost);
  if (decision.until < start.until) decision.why.shortened_from = start.until;
  decide(decision);
  return segment_of(history_.trial(id));
}

Action Session::train(const Resume& resume) {
  TrialResumed decision{.trial = resume.trial, .until = resume.until, .expected_cost = 0.0, .why = resume.why};
  refuse_unlawful(decision);
  const Trial& trial = history_.trial(resume.trial);
  decision.until = payable_until(history_, &trial, resume.until);
  if (decision.until <= trial.curve.last_epoch()) return wait_or_finish(kNoEpochPayable);
  decision.expected_cost = reservation(history_, &trial, decision.until, resume.expected_cost);
  if (decision.until < resume.until) decision.why.shortened_from = resume.until;
  decide(decision);
  return segment_of(history_.trial(resume.trial));
}

Segment Session::segment_of(const Trial& trial) const {
  const Budget budget = history_.budget();
  return {.trial = trial.id,
          .config = trial.config,
          .from = trial.curve.last_epoch(),
          .until = trial.segment->until,
          .max_epoch = last_payable_epoch(history_, trial),
          .budget_left = std::max(0.0, budget.total() - budget.spent()),
          .usual_epoch = usual_epoch_cost(trial.curve),
          .spent = trial.spent()};
}

std::vector<Segment> Session::open_segments() const {
  std::vector<Segment> segments;
  for (const Trial& trial : history_.trials()) {
    if (trial.segment) segments.push_back(segment_of(trial));
  }
  return segments;
}

void Session::record(std::span<const Event> facts) {
  if (facts.empty()) return;
  const std::vector<Event> kept = payable_facts(history_, facts);
  if (kept.empty()) return;
  if (const auto objection = history_.objection(kept)) {
    throw LogicError("a fact that cannot follow was refused, nothing is written: " + *objection);
  }
  const double now = clock_.now();
  if (!store_.append(last_, kept, now, Durability::process)) throw store_.competition();
  for (const Event& fact : kept) take(fact, now);
}

TrialId Session::adopt(const OutsideTrial& trial) {
  const StudySpec& spec = history_.spec();
  require(!history_.finished(), "the study has ended; a trial from outside needs a larger budget first");
  spec.space.validate(trial.config);
  require(!trial.curve.empty() || trial.end == OutsideTrial::End::failed, "a trial from outside has no epoch");
  require(std::ssize(trial.curve) <= spec.epochs.max,
          fmt::format("a trial from outside has {} epochs, the study {}", trial.curve.size(), spec.epochs.max));
  for (std::size_t i = 0; i < trial.curve.size(); ++i) {
    const Measurement& m = trial.curve[i];
    require(m.epoch == static_cast<Epoch>(i) + 1 && std::isfinite(m.value) && is_chargeable(m.cost),
            fmt::format("epoch {} of a trial from outside: epoch {}, value {}, cost {}; expected the epochs in order, "
                        "finite values, costs of 0 or more and at most {:g}",
                        i + 1,
                        m.epoch,
                        m.value,
                        m.cost,
                        kLargestCharge));
  }
  if (spec.budget.meter != Meter::seconds) {
    Cost price = 0.0;
    for (const Measurement& m : trial.curve) price += m.cost;
    const Cost left = history_.budget().total() - history_.budget().spent();
    require(can_pay(history_, price),
            fmt::format("a trial from outside costs {} {}, the budget has {} left", price, spec.budget.unit, left));
  }
  const auto id = TrialId{std::ssize(history_.trials())};
  const Epoch last = std::max(1, static_cast<Epoch>(trial.curve.size()));
  decide(TrialStarted{.trial = id, .config = trial.config, .until = last, .why = {.rule = Rule::from_outside}});
  std::vector<Event> facts;
  for (const Measurement& m : trial.curve) facts.emplace_back(Measured{.trial = id, .measurement = m});
  if (trial.end == OutsideTrial::End::failed) {
    facts.emplace_back(TrialFailed{.trial = id, .message = trial.message});
  } else if (trial.end == OutsideTrial::End::paused || last == spec.epochs.max) {
    facts.emplace_back(SegmentDone{.trial = id});
  } else {
    facts.emplace_back(ProgramEnded{.trial = id});
  }
  record(facts);
  return id;
}

void Session::refuse_unlawful(const Event& decision) const {
  if (const auto objection = history_.objection(decision)) {
    throw LogicError(fmt::format(
        "a decision of {} that cannot follow was refused, nothing is written: {}", policy_.name(), *objection));
  }
}

void Session::decide(const Event& decision) {
  refuse_unlawful(decision);
  const double now = clock_.now();
  if (!store_.append_decision(last_, decision, now)) throw store_.competition();
  take(decision, now);
}

void Session::interrupt(const std::string& reason) {
  std::vector<Event> interrupted;
  for (const Trial& trial : history_.trials()) {
    if (trial.state == TrialState::running) {
      interrupted.push_back(Interrupted{.trial = trial.id, .reason = reason});
    }
  }
  record(interrupted);
}

void Session::finish(const std::string& reason) {
  if (!history_.finished()) decide(StudyFinished{.reason = reason});
}

Action Session::wait_or_finish(const std::string& reason) {
  if (history_.open_segments() > 0) return Wait{};
  finish(reason);
  return Finish{reason};
}

}  // namespace bapi
