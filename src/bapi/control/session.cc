#include "bapi/control/session.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "bapi/base/error.h"
#include "bapi/base/match.h"
#include "bapi/control/allowance.h"
#include "bapi/control/process_account.h"
#include "bapi/policy/decision_event.h"
#include "bapi/study/progress.h"
#include "bapi/study/replay.h"
#include "bapi/study/user_request.h"
#include "bapi/study/wish.h"

namespace bapi {
namespace {

constexpr const char* kByStudyFile = "the study file";

// What the specification asks for: the study file's own configurations, then the best of earlier studies.
std::vector<ConfigEnqueued> wishes_of(const StudySpec& spec) {
  std::vector<ConfigEnqueued> wishes;
  for (const NamedValues& given : spec.tries) {
    wishes.push_back({.wish = wish_of(given, spec.space), .by = kByStudyFile});
  }
  if (spec.earlier.empty()) return wishes;
  for (EarlierBest& best : best_of_earlier(spec.earlier, spec.space, spec.pool)) {
    const bool given =
        std::any_of(wishes.begin(), wishes.end(), [&](const ConfigEnqueued& other) { return other.wish == best.wish; });
    if (!given) wishes.push_back({.wish = std::move(best.wish), .by = std::move(best.by)});
  }
  return wishes;
}

Past read(const Store& store) {
  Replay log = replay(store.spec(), store.read(0));
  if (log.damage) throw store.refusal(*log.damage);
  return past_of(std::move(log.history), log.events);
}

std::vector<double> last_reports(const History& history, const Trial& trial) {
  const std::span<const Measurement> reports = trial.curve.reports();
  const auto count = std::min<std::ptrdiff_t>(std::ssize(reports), history.spec().metric.smooth - 1);
  std::vector<double> values;
  for (const Measurement& report : reports.last(static_cast<std::size_t>(count))) {
    values.push_back(history.in_user_units(report.value));
  }
  return values;
}

}  // namespace

Past past_of(History history, std::span<const StoredEvent> events) {
  Past past{.history = std::move(history)};
  if (events.empty()) return past;
  past.began = first_decision_at(events);
  past.last = events.back().seq;
  return past;
}

Session::Session(Store& store, Policy& policy, const Clock& clock) : Session(store, policy, clock, read(store)) {}

Session::Session(Store& store, Policy& policy, const Clock& clock, Past past)
    : policy_(policy),
      clock_(clock),
      log_(store, std::move(past.history), past.last),
      started_at_(past.began.value_or(clock.calendar())) {}

Decision Session::think() const {
  if (history().finished()) return Finish{history().finish_reason()};
  if (history().budget().exhausted()) return Finish{kBudgetSpent};
  if (history().repeating()) return Finish{kFinalistsRepeated};
  Rng rng = decision_stream(history());
  return policy_.ask(history(), rng);
}

Action Session::decided(const Decision& decision) {
  if (history().finished()) return Finish{history().finish_reason()};
  return std::visit(Match{[&](const Start& start) {
                            take_requests();
                            return train(with_wish(start));
                          },
                          [&](const Resume& resume) { return train(resume); },
                          [&](const Stop& stop) {
                            decide(event_of(stop));
                            return Action(stop);
                          },
                          [&](const Wait& wait) {
                            check(history().open_segments() > 0, "a policy waits although nothing runs");
                            return Action(wait);
                          },
                          [&](const Finish& end) { return wait_or_finish(end.reason); }},
                    decision);
}

void Session::enqueue(const Config& wish, const std::string& by) {
  validate_wish(wish, history().spec().space);
  record(std::vector<Event>{ConfigEnqueued{.wish = wish, .by = by}});
}

// Of the specification, what the log does not hold yet, however often the study file was changed; then what others ask
// for.
void Session::take_requests() {
  std::vector<Event> facts;
  std::vector<ConfigEnqueued> known;
  std::set<std::string> ids;
  for (const ConfigEnqueued& wish : history().wishes()) {
    if (wish.id.empty()) known.push_back(wish);
    if (!wish.id.empty()) ids.insert(wish.id);
  }
  for (const ConfigEnqueued& wish : wishes_of(history().spec())) {
    if (const auto found = std::find(known.begin(), known.end(), wish); found != known.end()) {
      known.erase(found);
    } else {
      facts.emplace_back(wish);
    }
  }
  if (wishes_) {
    wishes_->clear(ids);
    for (const ConfigEnqueued& request : wishes_->waiting(ids)) {
      if (!history().objection(Event(request))) facts.emplace_back(request);
    }
  }
  record(facts);
}

Start Session::with_wish(Start start) const {
  const std::optional<int> number = history().next_wish();
  if (!number) return start;
  const ConfigEnqueued& wish = history().wishes()[static_cast<std::size_t>(*number)];
  const Space& space = history().spec().space;
  start.config = completed(wish.wish, start.config, space);
  start.expected_cost = 0.0;  // that of another configuration
  start.assignment.wish = number;
  Reason why{.rule = Rule::enqueued, .standing = start.why.standing};
  why.wish.emplace() = {.number = *number,
                        .by = wish.by,
                        .instead_of = start.why.rule,
                        .left_open = left_open(wish.wish, start.config, space)};
  start.why = std::move(why);
  return start;
}

Action Session::train(const Start& start) {
  const auto id = TrialId{std::ssize(history().trials())};
  TrialStarted decision = event_of(start, id);
  refuse_unlawful(decision);
  decision.until = payable_until(history(), nullptr, start.until);
  if (decision.until < 1) return wait_or_finish(kNoEpochPayable);
  decision.expected_cost = reservation(history(), nullptr, decision.until, start.expected_cost);
  if (decision.until < start.until) decision.why.shortened_from = start.until;
  decide(decision);
  return segment_of(history().trial(id));
}

Action Session::train(const Resume& resume) {
  TrialResumed decision = event_of(resume);
  refuse_unlawful(decision);
  const Trial& trial = history().trial(resume.trial);
  decision.until = payable_until(history(), &trial, resume.until);
  if (decision.until <= trial.curve.last_epoch()) return wait_or_finish(kNoEpochPayable);
  decision.expected_cost = reservation(history(), &trial, decision.until, resume.expected_cost);
  if (decision.until < resume.until) decision.why.shortened_from = resume.until;
  decide(decision);
  return segment_of(history().trial(resume.trial));
}

Action Session::train(const RepeatStep& step) {
  Reason why{.rule = Rule::repeat};
  why.repeat = RepeatOutline{.of = step.place.of, .number = step.place.number, .total = history().spec().repeat};
  if (step.resumed) {
    decide(TrialResumed{
        .trial = *step.resumed, .until = step.until, .expected_cost = step.expected_cost, .why = std::move(why)});
    return segment_of(history().trial(*step.resumed));
  }
  const auto id = TrialId{std::ssize(history().trials())};
  decide(TrialStarted{.trial = id,
                      .config = history().trial(step.place.of).config,
                      .until = step.until,
                      .expected_cost = step.expected_cost,
                      .why = std::move(why),
                      .assignment = {.repeat = step.place}});
  return segment_of(history().trial(id));
}

Segment Session::segment_of(const Trial& trial) const {
  const Budget budget = history().budget();
  return {.trial = trial.id,
          .config = trial.config,
          .from = trial.curve.last_epoch(),
          .until = trial.segment->until,
          .max_epoch = last_payable_epoch(history(), trial),
          .budget_left = std::max(0.0, budget.unspent()),
          .usual_epoch = usual_epoch_cost(trial.curve),
          .spent = trial.spent(),
          .paid = trial.paid_epoch(),
          .recent = last_reports(history(), trial),
          .continued = trial.starts > 1};
}

std::vector<Segment> Session::open_segments() const {
  std::vector<Segment> segments;
  for (const Trial& trial : history().trials()) {
    if (trial.segment) segments.push_back(open_segment(trial.id));
  }
  return segments;
}

Segment Session::open_segment(TrialId trial) const {
  check(history().trial(trial).segment.has_value(), "Session: the trial has no open segment");
  Segment segment = segment_of(history().trial(trial));
  segment.continued = true;
  return segment;
}

void Session::record(std::span<const Event> facts) {
  if (facts.empty()) return;
  log_.record(payable_facts(history(), facts), clock_.calendar());
}

TrialId Session::adopt(const OutsideTrial& trial) {
  const StudySpec& spec = history().spec();
  require(!history().finished(), "the study has ended; a trial from outside needs a larger budget first");
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
  if (spec.budget.meter != Meter::accrued) {
    Cost price = 0.0;
    for (const Measurement& m : trial.curve) price += m.cost;
    const Budget budget = history().budget();
    require(budget.pays(price),
            fmt::format(
                "a trial from outside costs {} {}, the budget has {} left", price, spec.budget.unit, budget.unspent()));
  }
  const auto id = TrialId{std::ssize(history().trials())};
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

void Session::refuse_unlawful(const Event& decision) const { log_.require_lawful(decision, policy_.name()); }

void Session::decide(const Event& decision) { decide(decision, policy_.name()); }

void Session::decide(const Event& decision, std::string_view by) {
  const double now = clock_.calendar();
  if (history().decisions() == 0) started_at_ = now;
  log_.decide(decision, now, by);
}

void Session::stop(TrialId trial) { decide(stop_event(trial), "the user"); }

void Session::interrupt(const std::string& reason) {
  std::vector<Event> interrupted;
  for (const Trial& trial : history().trials()) {
    if (trial.state == TrialState::running) {
      interrupted.push_back(Interrupted{.trial = trial.id, .reason = reason});
    }
  }
  record(interrupted);
}

void Session::finish(const std::string& reason) {
  if (!history().finished()) decide(StudyFinished{.reason = reason});
}

// While something of the search runs it is not known yet who the finalists are.
Action Session::wait_or_finish(const std::string& reason) {
  const bool idle = history().open_segments() == 0;
  if (history().repeating() || idle) {
    if (const std::optional<RepeatStep> step = next_repeat(history())) return train(*step);
  }
  if (!idle) return Wait{};
  finish(reason);
  return Finish{reason};
}

}  // namespace bapi
