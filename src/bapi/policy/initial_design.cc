#include "bapi/policy/initial_design.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <ranges>

#include "bapi/policy/fresh.h"
#include "bapi/policy/rungs.h"

namespace bapi {

namespace {

// The mean over all epochs so far; known beforehand where epochs are counted.
std::optional<Cost> epoch_cost(const History& history) {
  return history.spec().budget.meter == Meter::epochs ? 1.0 : history.mean_epoch_cost();
}

// What running trials will still cost, none less than its epochs at `per_epoch`.
Cost still_to_pay(const History& history, Cost per_epoch) {
  Cost sum = 0.0;
  for (const Trial& trial : history.trials()) {
    if (!trial.segment) continue;
    const Epoch left = std::max(0, trial.segment->until - trial.curve.last_epoch());
    sum += std::max(trial.segment->expected - trial.segment->spent, per_epoch * left);
  }
  return sum;
}

bool is_short_and_running(const Trial& trial, Epoch last) { return trial.segment && trial.segment->until < last; }

bool has_value(const Trial& trial) { return std::isfinite(trial.curve.best()); }

// Trials that are trained on from a rung that tells nothing: two curves may rise by chance, or late both.
constexpr int kTrainedOn = 3;

constexpr double kRungRatio = 2.0;

}  // namespace

std::ptrdiff_t InitialDesign::wanted(const StudySpec& spec) const { return runs.value_or(spec.space.unit_dim() + 1); }

bool InitialDesign::unfinished(const History& history) const {
  if (history.trials().empty()) return true;
  const bool more = std::ssize(history.trials()) < wanted(history.spec()) || wants_full_run(history) ||
                    further_epochs(history).has_value();
  return more && fits_its_share(history);
}

bool InitialDesign::wants_full_run(const History& history) const {
  const Epoch last = history.spec().epochs.max;
  int full = 0;
  bool can_be = false;  // one that is, or will be, waiting to be trained on
  for (const Trial& trial : history.trials() | std::views::take(wanted(history.spec()))) {
    const bool short_one = is_short_and_running(trial, last);
    if (trial.state == TrialState::completed || (trial.segment && !short_one)) ++full;
    if (short_one || (trial.resumable() && has_value(trial))) can_be = true;
  }
  return full < full_runs && can_be;
}

bool InitialDesign::fits_its_share(const History& history) const {
  const Budget budget = history.budget();
  const Cost share = budget_share * budget.plannable();
  if (budget.spent() + budget.committed() >= share) return false;
  if (budget_share >= 1.0) return true;  // the budget itself ends the runs
  const std::optional<Cost> per_epoch = epoch_cost(history);
  if (!per_epoch) return history.open_segments() < history.spec().workers;
  return budget.spent() + still_to_pay(history, *per_epoch) < share;
}

Epoch InitialDesign::first_rung(const StudySpec& spec) const {
  return std::max(spec.epochs.min, share_of(epochs, spec.epochs.max));
}

Epoch InitialDesign::telling_rung(const History& history) const {
  const Epoch last = history.spec().epochs.max;
  const Epoch first = first_rung(history.spec());
  Epoch rung = first;
  while (until_told_apart && rung < last && !tells_apart(history, rung))
    rung = next_rung(rung, first, kRungRatio, last);
  return rung;
}

Epoch InitialDesign::first_telling(const History& history) const {
  const Epoch first = first_rung(history.spec());
  Epoch epoch = telling_rung(history);
  while (epoch > first && tells_apart(history, epoch - 1)) --epoch;
  return epoch;
}

std::optional<Resume> InitialDesign::further_epochs(const History& history) const {
  const Epoch rung = telling_rung(history);
  if (rung == first_rung(history.spec())) return std::nullopt;
  int there = 0;
  const Trial* furthest = nullptr;
  for (const Trial& trial : history.trials()) {
    if (has_reached(trial, rung) || (trial.segment && trial.segment->until >= rung)) {
      ++there;
    } else if (trial.resumable() && (!furthest || trial.curve.last_epoch() > furthest->curve.last_epoch())) {
      furthest = &trial;
    }
  }
  if (there >= kTrainedOn || !furthest) return std::nullopt;
  return Resume{.trial = furthest->id, .until = rung, .expected_cost = 0.0, .why = {.rule = Rule::initial_design}};
}

Decision InitialDesign::next(const History& history) const {
  const bool all_begun = std::ssize(history.trials()) >= wanted(history.spec());
  if (!all_begun) return further_run(history);
  if (std::optional<Resume> resume = further_epochs(history)) return *std::move(resume);
  return wants_full_run(history) ? full_run(history) : further_run(history);
}

Decision InitialDesign::further_run(const History& history) const {
  const std::optional<Config> config = fresh_config(history);
  if (!config) return nothing_to_do(history, kPoolExhausted);
  return Start{.config = *config,
               .until = first_rung(history.spec()),
               .expected_cost = 0.0,
               .why = {.rule = Rule::initial_design},
               .assignment = {.initial_run = static_cast<int>(history.trials().size())}};
}

Decision InitialDesign::full_run(const History& history) const {
  const Epoch last = history.spec().epochs.max;
  const Trial* best = nullptr;
  for (const Trial& trial : history.trials() | std::views::take(wanted(history.spec()))) {
    if (is_short_and_running(trial, last)) return Wait{};  // it may become one of the best
    if (!trial.resumable() || !has_value(trial)) continue;
    if (!best || trial.curve.best() > best->curve.best()) best = &trial;
  }
  return Resume{.trial = best->id, .until = last, .expected_cost = 0.0, .why = {.rule = Rule::initial_design}};
}

}  // namespace bapi
