#include "bapi/control/allowance.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace bapi {
namespace {

constexpr double kNever = 1e9;  // seconds

// A rest of a budget in seconds that rounding left, too short for a clock to advance by, as a share of the total.
constexpr double kTimeSlack = 1e-12;

constexpr double kMostEpochs = 1e9;

bool counts(const History& history, Meter meter) { return history.spec().budget.meter == meter; }

Epoch whole_epochs(const History& history, Cost money, Cost per_epoch) {
  const double epochs = std::floor((money + history.budget().rounding()) / per_epoch);
  return static_cast<Epoch>(std::clamp(epochs, 0.0, kMostEpochs));
}

std::optional<Cost> largest(const Curve& curve) {
  if (curve.empty()) return std::nullopt;
  Cost cost = 0.0;
  for (const Measurement& m : curve.points()) cost = std::max(cost, m.cost);
  return cost;
}

std::optional<Cost> cheapest(const Curve& curve) {
  if (curve.empty()) return std::nullopt;
  Cost cost = std::numeric_limits<double>::infinity();
  for (const Measurement& m : curve.points()) cost = std::min(cost, m.cost);
  return cost;
}

std::optional<Cost> largest_of_all(const History& history) {
  std::optional<Cost> cost;
  for (const Trial& trial : history.trials()) cost = std::max(cost, largest(trial.curve));
  return cost;
}

// Epochs that are paid for already and need not be trained again.
Epoch paid_before(const History& history, const Trial* trial) {
  return trial ? history.spec().begins_after(trial->curve.last_epoch()) : 0;
}

// Of trials whose epoch was left out nothing that follows from it is kept either.
std::vector<Event> without_what_follows(std::span<const Event> facts, const std::vector<bool>& unpaid) {
  std::vector<Event> kept;
  std::set<TrialId> cut;
  for (std::size_t i = 0; i < facts.size(); ++i) {
    const auto* measured = std::get_if<Measured>(&facts[i]);
    const auto* done = std::get_if<SegmentDone>(&facts[i]);
    if (measured && unpaid[i]) cut.insert(measured->trial);
    const bool follows = (measured && cut.contains(measured->trial)) || (done && cut.contains(done->trial));
    if (!unpaid[i] && !follows) kept.push_back(facts[i]);
  }
  return kept;
}

// Reported units: every epoch in progress costs about the largest of its trial so far.
bool next_epochs_do_not_fit(const History& history) {
  if (!counts(history, Meter::reported)) return false;
  Cost next = 0.0;
  for (const Trial& trial : history.trials()) {
    if (trial.segment) next += largest(trial.curve).value_or(0.0);
  }
  return next > 0.0 && !history.budget().pays(next);
}

double seconds_to_deadline(const History& history, const StudyTime& time, double grace) {
  const std::optional<double> deadline = history.spec().deadline;
  return deadline ? time.started_at + *deadline - grace - time.now : kNever;
}

// With what the grace periods of all processes may still need.
double seconds_to_budget(const History& history, const Running& running) {
  if (running.rate <= 0.0) return kNever;
  const Budget budget = history.budget();
  const Cost grace = running.rate * history.spec().effective_grace();
  const Cost left = budget.unspent(running.accrued + grace);
  return left > kTimeSlack * budget.total() ? left / running.rate : 0.0;
}

// epoch_reserve for what a policy decides. Time ends nothing when the search has to end, so that its epochs are counted
// beforehand where something is to be left over.
std::optional<Cost> searched_epoch(const History& history, const Trial* trial) {
  if (!counts(history, Meter::accrued)) return epoch_reserve(history, trial);
  if (!(history.budget().reserved() > 0.0)) return std::nullopt;
  return trial && !trial->curve.empty() ? trial->curve.mean_cost() : history.mean_epoch_cost();
}

}  // namespace

std::optional<Cost> epoch_reserve(const History& history, const Trial* trial) {
  if (counts(history, Meter::epochs)) return 1.0;
  if (counts(history, Meter::accrued)) return std::nullopt;
  return trial && !trial->curve.empty() ? largest(trial->curve) : largest_of_all(history);
}

Epoch payable_until(const History& history, const Trial* trial, Epoch wanted) {
  const Cost per_epoch = searched_epoch(history, trial).value_or(0.0);
  if (per_epoch <= 0.0) return wanted;
  return std::min(wanted, paid_before(history, trial) + whole_epochs(history, history.budget().remaining(), per_epoch));
}

Epoch last_payable_epoch(const History& history, const Trial& trial) {
  const Epoch last = history.spec().epochs.max;
  const std::optional<Cost> known =
      counts(history, Meter::accrued) ? cheapest(trial.curve) : epoch_reserve(history, &trial);
  const Cost per_epoch = known.value_or(0.0);
  if (per_epoch <= 0.0) return last;
  const Cost own = trial.segment ? trial.segment->committed() : 0.0;
  const Epoch payable =
      paid_before(history, &trial) + whole_epochs(history, history.budget().remaining() + own, per_epoch);
  return std::clamp(payable, trial.asked_until, last);
}

Cost reservation(const History& history, const Trial* trial, Epoch until, Cost predicted) {
  const std::optional<Cost> per_epoch = searched_epoch(history, trial);
  if (counts(history, Meter::accrued) && !per_epoch) return predicted;
  const Epoch epochs = trial ? history.epochs_to_pay(*trial, until) : until;
  const Cost reserved = per_epoch.value_or(0.0) * epochs;
  return counts(history, Meter::epochs) ? reserved : std::max(predicted, reserved);
}

std::vector<Event> payable_facts(const History& history, std::span<const Event> facts) {
  if (counts(history, Meter::accrued)) return {facts.begin(), facts.end()};
  const bool counted = counts(history, Meter::epochs);
  const Budget budget = history.budget();
  Cost charged = 0.0;
  std::set<TrialId> had_theirs = history.overdrawn();
  std::vector<bool> unpaid(facts.size(), false);
  for (std::size_t i = 0; i < facts.size(); ++i) {
    const std::optional<TrialCharge> charge = charge_in(facts[i]);
    if (!charge) continue;
    unpaid[i] = counted ? !budget.pays(charge->cost, charged) : had_theirs.contains(charge->trial);
    if (unpaid[i]) continue;
    charged += charge->cost;
    if (budget.unspent(charged) <= 0.0) had_theirs.insert(charge->trial);
  }
  return without_what_follows(facts, unpaid);
}

Cost charged_by(std::span<const Event> facts) {
  Cost sum = 0.0;
  for (const Event& fact : facts) sum += charge_in(fact).value_or(TrialCharge{}).cost;
  return sum;
}

bool next_epoch_fits(const History& history, const Trial& trial, const Running& running) {
  if (counts(history, Meter::epochs) || trial.curve.empty()) return true;
  const Cost next = counts(history, Meter::accrued) ? trial.curve.mean_cost() : *largest(trial.curve);
  return history.budget().pays(next, running.accrued);
}

std::optional<std::string> end_due(const History& history, const Running& running, const StudyTime& time) {
  if (history.finished()) return std::nullopt;
  if (history.budget().exhausted() || seconds_to_budget(history, running) <= 0.0) return kBudgetSpent;
  if (next_epochs_do_not_fit(history)) return kNextEpochDoesNotFit;
  if (seconds_to_deadline(history, time, history.spec().effective_grace()) <= 0.0) return kDeadlineReached;
  return std::nullopt;
}

std::optional<std::string> end_due_between_epochs(const History& history, const StudyTime& time) {
  if (history.finished()) return std::nullopt;
  if (history.budget().exhausted()) return kBudgetSpent;
  if (seconds_to_deadline(history, time, 0.0) <= 0.0) return kDeadlineReached;
  return std::nullopt;
}

double seconds_to_end(const History& history, const Running& running, const StudyTime& time) {
  const double deadline = seconds_to_deadline(history, time, history.spec().effective_grace());
  return std::max(0.0, std::min(seconds_to_budget(history, running), deadline));
}

double training_seconds_left(const History& history, const Running& running) {
  return most_training_seconds_left(
      history, {.accrued = running.accrued + running.rate * history.spec().effective_grace(), .rate = running.rate});
}

double most_training_seconds_left(const History& history, const Running& running) {
  if (!counts(history, Meter::accrued)) return std::numeric_limits<double>::infinity();
  return history.spec().budget.to_seconds(history.budget().unspent(running.accrued));
}

std::optional<double> seconds_left(const History& history, const Running& running, const StudyTime& time) {
  std::optional<double> seconds;
  if (running.rate > 0.0) seconds = std::max(0.0, history.budget().unspent(running.accrued)) / running.rate;
  if (history.spec().deadline) {
    const double until_deadline = std::max(0.0, seconds_to_deadline(history, time, 0.0));
    seconds = std::min(seconds.value_or(until_deadline), until_deadline);
  }
  return seconds;
}

bool too_many_failures(const History& history, int failures_before) {
  return history.failures_in_a_row() - failures_before >= history.spec().max_failures;
}

std::string failure_advice(const History& history) {
  std::string last;
  for (const Trial& trial : history.trials()) {
    if (trial.state == TrialState::failed) last = trial.failure;
  }
  const bool is_function = history.spec().command.empty();
  return fmt::format(
      "{} trials in a row have failed. Fix the training {}, then run the study again; it continues from here. The last "
      "failure was: {}",
      history.failures_in_a_row(),
      is_function ? "function" : "program (`bapi doctor` runs it for three epochs)",
      last);
}

}  // namespace bapi
