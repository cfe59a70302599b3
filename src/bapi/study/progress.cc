#include "bapi/study/progress.h"

#include <algorithm>
#include <utility>

#include "bapi/study/direction.h"

namespace bapi {
namespace {

SpentReport report_of(const StoredEvent& stored, const Measured& measured, Cost spent) {
  return {.spent = spent, .at = stored.at, .trial = measured.trial, .measurement = measured.measurement};
}

// Whether every report counts for itself, and the best can only grow.
bool is_running_maximum(const StudySpec& spec, std::span<const StoredEvent> events) {
  if (spec.metric.valuation() != Valuation()) return false;
  return std::none_of(events.begin(), events.end(), [](const StoredEvent& stored) {
    const auto* start = std::get_if<TrialStarted>(&stored.event);
    return start && start->assignment.repeat;
  });
}

// The same as replayed_bests for these, without a history: logs are long.
std::vector<SpentReport> running_maxima(const Metric& metric, std::span<const StoredEvent> events) {
  std::vector<SpentReport> reports;
  Cost spent = 0.0;
  std::optional<double> best_so_far;  // to be maximised
  for (const StoredEvent& stored : events) {
    if (const std::optional<TrialCharge> charge = charge_in(stored.event)) spent += charge->cost;
    const auto* measured = std::get_if<Measured>(&stored.event);
    if (!measured) continue;
    SpentReport& report = reports.emplace_back(report_of(stored, *measured, spent));
    const double value = oriented(measured->measurement.value, metric.goal);
    report.improves = !best_so_far || value > *best_so_far;
    if (report.improves) best_so_far = value;
    report.best = oriented(*best_so_far, metric.goal);
  }
  return reports;
}

// What the incumbent counts; to be maximised.
double incumbent_value(const History& history) {
  const Trial& trial = history.trial(*history.incumbent());
  if (history.repeats().empty()) return trial.curve.best();
  return standing_of(history, first_training(trial))->mean;
}

std::vector<SpentReport> replayed_bests(const StudySpec& spec, std::span<const StoredEvent> events) {
  std::vector<SpentReport> reports;
  History history(spec);
  BestFollower follower;
  for (const StoredEvent& stored : events) {
    history.apply(stored.event);
    follower.take(stored, history);
    if (std::holds_alternative<Measured>(stored.event)) reports.emplace_back();
    if (!reports.empty()) reports.back() = *follower.latest_report();
  }
  return reports;
}

}  // namespace

void BestFollower::take(const StoredEvent& stored, const History& history) {
  if (const auto* measured = std::get_if<Measured>(&stored.event)) {
    latest_ = report_of(stored, *measured, history.budget().spent());
  }
  if (!history.incumbent()) return;
  const std::pair<TrialId, double> now = {*history.incumbent(), incumbent_value(history)};
  latest_->best = history.in_user_units(now.second);
  if (best_ != now) latest_->improves = true;
  best_ = now;
}

std::optional<Best> best(const History& history) {
  if (!history.incumbent()) return std::nullopt;
  const Trial& trial = history.trial(*history.incumbent());
  Best found{.trial = trial.id,
             .epoch = trial.curve.best_epoch(),
             .value = history.in_user_units(trial.curve.best()),
             .config = trial.config,
             .trial_value = history.in_user_units(trial.curve.best())};
  if (history.repeats().empty()) return found;
  const Standing standing = *standing_of(history, first_training(trial));
  found.value = history.in_user_units(standing.mean);
  found.standard_error = standing.standard_error;
  found.trainings = standing.trainings;
  return found;
}

std::optional<double> first_decision_at(std::span<const StoredEvent> events) {
  const auto first = std::ranges::find_if(events, [](const StoredEvent& stored) { return is_decision(stored.event); });
  return first == events.end() ? std::nullopt : std::optional(first->at);
}

bool is_exhausted(const History& history) {
  const auto trials = history.trials();
  if (std::any_of(
          trials.begin(), trials.end(), [](const Trial& trial) { return trial.segment || trial.resumable(); })) {
    return false;
  }
  const StudySpec& spec = history.spec();
  std::vector<Config> all = spec.pool;
  if (all.empty()) {
    std::optional<std::vector<Config>> listed = spec.space.all(trials.size());
    if (!listed) return false;
    all = *std::move(listed);
  }
  return std::all_of(all.begin(), all.end(), [&](const Config& config) {
    return std::any_of(trials.begin(), trials.end(), [&](const Trial& trial) { return trial.config == config; });
  });
}

std::vector<SpentReport> spent_reports(const StudySpec& spec, std::span<const StoredEvent> events) {
  return is_running_maximum(spec, events) ? running_maxima(spec.metric, events) : replayed_bests(spec, events);
}

std::vector<SpentReport> improvements(const StudySpec& spec, std::span<const StoredEvent> events) {
  std::vector<SpentReport> reports = spent_reports(spec, events);
  std::erase_if(reports, [](const SpentReport& report) { return !report.improves; });
  return reports;
}

}  // namespace bapi
