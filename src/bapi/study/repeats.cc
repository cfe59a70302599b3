#include "bapi/study/repeats.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "bapi/study/history.h"

namespace bapi {
namespace {

// A repeat that was broken off says nothing yet; one that failed, or that the user has stopped, never will.
bool counts(const Trial& repeat) {
  return !repeat.segment && !repeat.curve.empty() && repeat.state != TrialState::failed &&
         repeat.state != TrialState::stopped;
}

std::vector<const Trial*> repeats_of(const History& history, TrialId first) {
  std::vector<const Trial*> found;
  for (const TrialId id : history.repeats()) {
    if (history.trial(id).assignment.repeat->of == first) found.push_back(&history.trial(id));
  }
  return found;
}

Cost price(const History& history, const Trial& first, Epoch epochs) {
  if (history.spec().budget.meter == Meter::epochs) return epochs;
  return epochs * first.curve.mean_cost() + first.overhead / std::max(1, first.starts);
}

std::optional<RepeatStep> step_of(const History& history, const Trial& first, int number) {
  const std::vector<const Trial*> repeats = repeats_of(history, first.id);
  const auto begun = std::find_if(
      repeats.begin(), repeats.end(), [&](const Trial* repeat) { return repeat->assignment.repeat->number == number; });
  const Epoch until = first.curve.last_epoch();
  RepeatStep step{.place = {.of = first.id, .number = number}, .until = until};
  if (begun == repeats.end()) {
    step.expected_cost = price(history, first, until);
  } else {
    const Trial& repeat = **begun;
    if (repeat.state != TrialState::paused || repeat.curve.last_epoch() >= until) return std::nullopt;
    step.resumed = repeat.id;
    step.expected_cost = price(history, first, history.epochs_to_pay(repeat, until));
  }
  return step;
}

// Epochs of one configuration do not all take the same time.
constexpr double kMargin = 0.05;

// Whether the budget is expected to pay; what is reserved is for this. Where time is the cost, what the last programs
// are given to end is not there to be spent.
bool is_payable(const History& history, Cost cost) {
  const Budget budget = history.budget();
  const bool timed = history.spec().budget.meter == Meter::accrued;
  const Cost price = (timed ? 1.0 + kMargin : 1.0) * cost;
  return budget.pays(price, budget.committed() + (timed ? time_to_end(history.spec()) : 0.0));
}

// The next training of one configuration, if all that it lacks can be paid: half of them would compare badly.
std::optional<RepeatStep> first_of_all(const History& history, const Trial& first) {
  std::optional<RepeatStep> next;
  Cost cost = 0.0;
  for (int number = 2; number <= history.spec().repeat; ++number) {
    const std::optional<RepeatStep> step = step_of(history, first, number);
    if (step) cost += step->expected_cost;
    if (!next) next = step;
  }
  return is_payable(history, cost) ? next : std::nullopt;
}

}  // namespace

Cost time_to_end(const StudySpec& spec) { return spec.workers * spec.effective_grace(); }

int planned_finalists(Cost total, int repeat, Cost full_training) {
  const Cost each = (repeat - 1) * full_training;
  if (!(each > 0.0)) return kFewestFinalists;
  const double affordable = std::floor(kReservedShare * total / each);
  return static_cast<int>(
      std::clamp(affordable, static_cast<double>(kFewestFinalists), static_cast<double>(kMostFinalists)));
}

Cost repeat_reserve(Cost total, int repeat, Cost full_training) {
  if (repeat < 2) return 0.0;
  if (!(full_training > 0.0)) return kReservedShare * total;
  const Cost wanted = planned_finalists(total, repeat, full_training) * (repeat - 1) * full_training;
  return std::min(wanted, kMostReserved * total);
}

TrialId first_training(const Trial& trial) { return trial.assignment.repeat ? trial.assignment.repeat->of : trial.id; }

std::optional<Standing> standing_of(const History& history, TrialId first) {
  if (history.trial(first).curve.empty()) return std::nullopt;
  Standing standing{.first = first};
  std::vector<const Trial*> counted = {&history.trial(first)};
  for (const Trial* repeat : repeats_of(history, first)) {
    if (counts(*repeat)) counted.push_back(repeat);
    if (repeat->state == TrialState::failed) ++standing.failed;
  }
  Epoch shared = std::numeric_limits<Epoch>::max();
  for (const Trial* trial : counted) shared = std::min(shared, trial->curve.last_epoch());
  std::vector<double> values;
  double best = -std::numeric_limits<double>::infinity();
  for (const Trial* trial : counted) {
    values.push_back(trial->curve.best_by(shared));
    if (values.back() <= best) continue;
    best = values.back();
    standing.best = trial->id;
  }
  standing.trainings = static_cast<int>(values.size());
  double squares = 0.0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const double difference = values[i] - standing.mean;
    standing.mean += difference / static_cast<double>(i + 1);
    squares += difference * (values[i] - standing.mean);
  }
  const auto n = static_cast<double>(values.size());
  if (values.size() > 1) standing.standard_error = std::sqrt(squares / (n - 1.0) / n);
  return standing;
}

std::optional<Standing> best_by_mean(const History& history) {
  std::optional<Standing> found;
  for (const TrialId id : history.repeats()) {
    const std::optional<Standing> standing = standing_of(history, history.trial(id).assignment.repeat->of);
    if (!standing || standing->trainings < 2) continue;
    const bool better =
        !found || standing->mean > found->mean || (standing->mean == found->mean && standing->first < found->first);
    if (better) found = standing;
  }
  return found;
}

std::vector<Standing> leaderboard(const History& history) {
  std::vector<Standing> all;
  for (const Trial& trial : history.trials()) {
    if (trial.assignment.repeat) continue;
    if (const std::optional<Standing> standing = standing_of(history, trial.id)) all.push_back(*standing);
  }
  std::stable_sort(all.begin(), all.end(), [](const Standing& a, const Standing& b) { return a.mean > b.mean; });
  if (const std::optional<Standing> best = best_by_mean(history)) {
    const auto winner = std::ranges::find(all, best->first, &Standing::first);
    std::rotate(all.begin(), winner, std::next(winner));
  }
  return all;
}

std::vector<TrialId> finalists(const History& history) {
  std::vector<TrialId> ranked;
  for (const Trial& trial : history.trials()) {
    if (!trial.assignment.repeat && !trial.curve.empty()) ranked.push_back(trial.id);
  }
  std::stable_sort(ranked.begin(), ranked.end(), [&](TrialId a, TrialId b) {
    return history.trial(a).curve.best() > history.trial(b).curve.best();
  });
  return ranked;
}

std::optional<RepeatStep> next_repeat(const History& history) {
  const int trainings = history.spec().repeat;
  if (trainings < 2) return std::nullopt;
  const std::vector<TrialId> ranked = finalists(history);
  const auto planned = std::min<std::ptrdiff_t>(std::ssize(ranked), history.planned_finalists());
  for (int number = 2; number <= trainings; ++number) {
    for (auto first = ranked.begin(); first != ranked.begin() + planned; ++first) {
      const std::optional<RepeatStep> step = step_of(history, history.trial(*first), number);
      if (step && is_payable(history, step->expected_cost)) return step;
    }
  }
  // A repeat of what was trained for less than the finalists were could not be best.
  Epoch shortest = std::numeric_limits<Epoch>::max();
  for (auto first = ranked.begin(); first != ranked.begin() + planned; ++first) {
    shortest = std::min(shortest, history.trial(*first).curve.last_epoch());
  }
  for (auto first = ranked.begin() + planned; first != ranked.end(); ++first) {
    if (history.trial(*first).curve.last_epoch() < shortest) continue;
    if (const std::optional<RepeatStep> step = first_of_all(history, history.trial(*first))) return step;
  }
  return std::nullopt;
}

}  // namespace bapi
