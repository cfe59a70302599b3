#include "bapi/control/session.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "bapi/base/error.h"
#include "bapi/base/match.h"
#include "bapi/study/replay.h"

namespace bapi {
namespace {

// Sums of counted or reported costs are compared with this slack, so that 0.1 + 0.2 still pays for 0.3.
constexpr double kRelativeSlack = 1e-9;

Epoch whole_epochs(Cost budget, Cost per_epoch) {
  const double epochs = std::floor(budget / per_epoch * (1.0 + kRelativeSlack));
  return static_cast<Epoch>(std::min(epochs, 1e9));
}

// Drops what follows from epochs that the budget cannot pay: the measurement itself and the end of its segment.
std::vector<Event> payable(std::span<const Event> facts, Cost left) {
  std::vector<Event> kept;
  std::vector<TrialId> unpaid;
  const auto is_unpaid = [&](TrialId trial) { return std::find(unpaid.begin(), unpaid.end(), trial) != unpaid.end(); };
  for (const Event& fact : facts) {
    if (const auto* measured = std::get_if<Measured>(&fact)) {
      if (is_unpaid(measured->trial) || measured->measurement.cost > left + kRelativeSlack) {
        unpaid.push_back(measured->trial);
        continue;
      }
      left -= measured->measurement.cost;
    } else if (const auto* overhead = std::get_if<Overhead>(&fact)) {
      if (overhead->cost > left + kRelativeSlack) continue;
      left -= overhead->cost;
    } else if (const auto* done = std::get_if<SegmentDone>(&fact); done && is_unpaid(done->trial)) {
      continue;
    }
    kept.push_back(fact);
  }
  return kept;
}

}  // namespace

Session::Session(Store& store, Policy& policy, const Clock& clock)
    : store_(store), policy_(policy), clock_(clock), history_(store.spec()), started_at_(clock.now()) {
  Replay log = replay(store.spec(), store.read(0));
  if (log.damage) throw store.refusal(*log.damage);
  history_ = std::move(log.history);
  if (log.events.empty()) return;
  started_at_ = log.events.front().at;
  last_ = log.events.back().seq;
}

Action Session::ask() {
  if (history_.finished()) return Finish{history_.finish_reason()};
  if (history_.budget().exhausted()) return wait_or_finish("the budget is spent");
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
  const Epoch until = affordable(nullptr, start.until);
  if (until < 1) return wait_or_finish("what is left of the budget pays for no further epoch");
  const auto id = TrialId{std::ssize(history_.trials())};
  TrialStarted decision{.trial = id,
                        .config = start.config,
                        .until = until,
                        .expected_cost = reservation(nullptr, until, start.expected_cost),
                        .why = start.why,
                        .assignment = start.assignment};
  if (until < start.until) decision.why.shortened_from = start.until;
  decide(decision);
  return segment_of(history_.trial(id));
}

Action Session::train(const Resume& resume) {
  const Trial& trial = history_.trial(resume.trial);
  const Epoch until = affordable(&trial, resume.until);
  if (until <= trial.curve.last_epoch()) {
    return wait_or_finish("what is left of the budget pays for no further epoch");
  }
  TrialResumed decision{.trial = resume.trial,
                        .until = until,
                        .expected_cost = reservation(&trial, until, resume.expected_cost),
                        .why = resume.why};
  if (until < resume.until) decision.why.shortened_from = resume.until;
  decide(decision);
  return segment_of(history_.trial(resume.trial));
}

Cost Session::expected_epoch_cost(const Trial* trial) const {
  if (history_.spec().budget.meter == Meter::epochs) return 1.0;
  if (trial && !trial->curve.empty()) return trial->curve.spent() / trial->curve.last_epoch();
  Cost spent = 0.0;
  double epochs = 0.0;
  for (const Trial& other : history_.trials()) {
    spent += other.curve.spent();
    epochs += other.curve.last_epoch();
  }
  return epochs > 0.0 ? spent / epochs : 0.0;
}

// In seconds the loop ends what runs at the right instant, so nothing has to be shortened beforehand.
Epoch Session::affordable(const Trial* trial, Epoch wanted) const {
  const Cost per_epoch = expected_epoch_cost(trial);
  if (history_.spec().budget.meter == Meter::seconds || per_epoch <= 0.0) return wanted;
  const Epoch paid_before = trial && history_.spec().checkpoint == Checkpoint::kept ? trial->curve.last_epoch() : 0;
  return std::min(wanted, paid_before + whole_epochs(history_.budget().remaining(), per_epoch));
}

// The policy's prediction, or ours where an epoch's cost is counted or reported: it keeps other workers from planning
// with the same money.
Cost Session::reservation(const Trial* trial, Epoch until, Cost predicted) const {
  if (history_.spec().budget.meter == Meter::seconds) return predicted;
  const Epoch epochs = trial ? history_.epochs_to_pay(*trial, until) : until;
  const Cost expected = expected_epoch_cost(trial) * epochs;
  return history_.spec().budget.meter == Meter::epochs ? expected : std::max(predicted, expected);
}

// In seconds an epoch may turn out as cheap as the trial's cheapest so far; the loop enforces the rest.
Epoch Session::last_payable_epoch(const Trial& trial) const {
  const StudySpec& spec = history_.spec();
  Cost per_epoch = expected_epoch_cost(&trial);
  if (spec.budget.meter == Meter::seconds) {
    per_epoch = 0.0;
    for (const Measurement& m : trial.curve.points())
      per_epoch = per_epoch > 0.0 ? std::min(per_epoch, m.cost) : m.cost;
  }
  if (per_epoch <= 0.0) return spec.epochs.max;
  const Cost own = trial.segment->committed();
  const Epoch paid_before = spec.checkpoint == Checkpoint::kept ? trial.curve.last_epoch() : 0;
  const Epoch payable_epochs = paid_before + whole_epochs(history_.budget().remaining() + own, per_epoch);
  return std::clamp(payable_epochs, trial.segment->until, spec.epochs.max);
}

Segment Session::segment_of(const Trial& trial) const {
  const Budget budget = history_.budget();
  return {.trial = trial.id,
          .config = trial.config,
          .from = trial.curve.last_epoch(),
          .until = trial.segment->until,
          .max_epoch = last_payable_epoch(trial),
          .budget_left = std::max(0.0, budget.total() - budget.spent())};
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
  const bool counted = history_.spec().budget.meter == Meter::epochs;
  const Budget budget = history_.budget();
  const std::vector<Event> kept =
      payable(facts, counted ? budget.total() - budget.spent() : std::numeric_limits<double>::infinity());
  if (kept.empty()) return;
  if (const auto objection = history_.objection(kept)) {
    throw LogicError("a fact that cannot follow was refused, nothing is written: " + *objection);
  }
  if (!store_.append(last_, kept, clock_.now(), Durability::process)) throw store_.competition();
  last_ += std::ssize(kept);
  for (const Event& fact : kept) history_.apply(fact);
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
    require(m.epoch == static_cast<Epoch>(i) + 1 && std::isfinite(m.value) && std::isfinite(m.cost) && m.cost >= 0.0,
            fmt::format("epoch {} of a trial from outside: epoch {}, value {}, cost {}; expected the epochs in order, "
                        "finite values, costs of 0 or more",
                        i + 1,
                        m.epoch,
                        m.value,
                        m.cost));
  }
  if (spec.budget.meter == Meter::epochs) {
    Cost price = 0.0;
    for (const Measurement& m : trial.curve) price += m.cost;
    const Cost left = history_.budget().total() - history_.budget().spent();
    require(price <= left + kRelativeSlack,
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

void Session::decide(const Event& decision) {
  if (const auto objection = history_.objection(decision)) {
    throw LogicError(fmt::format(
        "a decision of {} that cannot follow was refused, nothing is written: {}", policy_.name(), *objection));
  }
  if (!store_.append_decision(last_, decision, clock_.now())) throw store_.competition();
  ++last_;
  history_.apply(decision);
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
