#include "bapi/dashboard/log_digest.h"

#include <algorithm>
#include <limits>

#include "bapi/base/error.h"
#include "bapi/base/match.h"
#include "bapi/study/replay.h"

namespace bapi {
namespace {

// Twice as many gather before they are thinned.
constexpr std::size_t kKeptPoints = 4000;
constexpr std::size_t kKeptDots = 4000;

template <typename T>
T& grown_to(std::vector<T>& list, TrialId trial, T none) {
  const auto at = static_cast<std::size_t>(index(trial));
  if (list.size() <= at) list.resize(at + 1, none);
  return list[at];
}

const Measurement* reported(const Trial& trial, Epoch epoch) {
  const auto reports = trial.curve.reports();
  const auto found = std::ranges::lower_bound(reports, epoch, {}, &Measurement::epoch);
  return found != reports.end() && found->epoch == epoch ? &*found : nullptr;
}

// The report of an epoch, as it was written.
Measured report_on(const History& history, TrialId id, Epoch epoch) {
  const Trial& trial = history.trial(id);
  const Measurement* point = reported(trial, epoch);
  check(point != nullptr, "the curve has lost a report");
  Measured report{.trial = id, .measurement = *point};
  report.measurement.value = history.in_user_units(point->value);
  if (const auto others = trial.others.find(epoch); others != trial.others.end()) report.others = others->second;
  return report;
}

bool is_on_its_curve(const Measured& report, const History& history) {
  constexpr auto kMost = std::numeric_limits<std::int32_t>::max();
  if (index(report.trial) > kMost || report.measurement.epoch > kMost) return false;
  return reported(history.trial(report.trial), report.measurement.epoch) &&
         report_on(history, report.trial, report.measurement.epoch) == report;
}

}  // namespace

Cost BurndownPoint::left() const {
  Cost left = total;
  for (const Cost cost : spent) left -= cost;
  return left;
}

std::vector<BurndownPoint> thinned(const std::vector<BurndownPoint>& points, std::size_t most) {
  return thinned(
      points,
      most,
      [](const BurndownPoint& point) { return point.at; },
      [](const BurndownPoint& point) { return point.left(); },
      [](const BurndownPoint& point) { return point.step; });
}

std::vector<ReportDot> thinned(const std::vector<ReportDot>& dots, std::size_t most) {
  return thinned(
      dots,
      most,
      [](const ReportDot& dot) { return dot.spent; },
      [](const ReportDot& dot) { return dot.value; },
      [](const ReportDot&) { return false; });
}

void LogDigest::take(const StoredEvent& stored, const History& history) {
  const StoredEvent& kept = keep(stored, history);
  if (!first_decision_at_ && is_decision(stored.event)) first_decision_at_ = stored.at;
  if (const std::optional<TrialId> trial = trial_of(stored.event)) {
    grown_to(last_seen_, *trial, 0.0) = stored.at;
    const auto decision = training_decision(kept, history.trial(*trial).curve.last_epoch());
    if (decision) trainings_.push_back(*decision);
  }
  charge(stored, history);
  follow_best(stored, history);
  follow_work(stored, history.spec().budget);
}

const StoredEvent& LogDigest::keep(const StoredEvent& stored, const History& history) {
  const auto* report = std::get_if<Measured>(&stored.event);
  if (report && is_on_its_curve(*report, history)) {
    slots_.push_back({.at = stored.at,
                      .trial = static_cast<std::int32_t>(index(report->trial)),
                      .epoch = static_cast<std::int32_t>(report->measurement.epoch)});
    return stored;
  }
  slots_.push_back({.at = stored.at, .epoch = static_cast<std::int32_t>(told_.size())});
  return told_.emplace_back(stored);
}

void LogDigest::charge(const StoredEvent& stored, const History& history) {
  BurndownPoint& now = burndown_now_;
  if (last() == 1) {
    now = {.at = stored.at, .total = history.spec().budget.limit};
    burndown_.push_back(now);
  }
  now.at = std::max(now.at, stored.at);  // a clock that was set back
  if (const std::optional<Charge> charge = ledger_.take(stored)) {
    now.spent[static_cast<std::size_t>(charge->kind)] += charge->cost;
    burndown_.push_back(now);
  } else if (const auto* changed = std::get_if<BudgetChanged>(&stored.event)) {
    now.step = true;
    burndown_.push_back(now);
    now.total = changed->total;
    burndown_.push_back(now);
    now.step = false;
  }
  if (burndown_.size() > 2 * kKeptPoints) burndown_ = thinned(burndown_, kKeptPoints);
}

void LogDigest::follow_best(const StoredEvent& stored, const History& history) {
  best_.take(stored, history);
  const std::optional<SpentReport>& latest = best_.latest_report();
  if (std::holds_alternative<Measured>(stored.event)) {
    ++reports_;
    improvement_is_latest_ = false;
    dots_.push_back({.spent = latest->spent, .value = latest->measurement.value, .trial = latest->trial});
    if (dots_.size() > 2 * kKeptDots) dots_ = thinned(dots_, kKeptDots);
  }
  if (!latest || !latest->improves) return;
  if (improvement_is_latest_) {
    improvements_.back() = *latest;
  } else {
    improvements_.push_back(*latest);
    improvement_is_latest_ = true;
  }
}

WorkBar* LogDigest::last_bar(TrialId trial) {
  const std::int32_t bar = grown_to(last_bar_, trial, -1);
  return bar < 0 ? nullptr : &bars_[static_cast<std::size_t>(bar)];
}

void LogDigest::open_bar(TrialId trial, Epoch until, double at) {
  grown_to(last_bar_, trial, -1) = static_cast<std::int32_t>(bars_.size());
  bars_.push_back({.trial = trial, .until = until, .begin = at});
}

void LogDigest::close_bar(TrialId trial, double at, WorkEnd how) {
  WorkBar* bar = last_bar(trial);
  if (!bar || bar->end) return;
  bar->end = at;
  bar->how = how;
}

void LogDigest::follow_work(const StoredEvent& stored, const BudgetSpec& budget) {
  const double at = stored.at;
  const auto seconds = [&](Cost cost) { return budget.meter == Meter::accrued ? budget.to_seconds(cost) : 0.0; };
  std::visit(Match{[&](const TrialStarted& e) { open_bar(e.trial, e.until, at); },
                   [&](const TrialResumed& e) { open_bar(e.trial, e.until, at); },
                   [&](const TrialStopped& e) { close_bar(e.trial, at, WorkEnd::stopped); },
                   [&](const Measured& e) {
                     const WorkBar* bar = last_bar(e.trial);
                     if (!bar || bar->how != WorkEnd::interrupted) return;
                     open_bar(e.trial, bar->until, at - seconds(e.measurement.cost));
                   },
                   [&](const SegmentDone& e) { close_bar(e.trial, at, WorkEnd::done); },
                   [&](const ProgramEnded& e) { close_bar(e.trial, at, WorkEnd::ended); },
                   [&](const TrialFailed& e) { close_bar(e.trial, at, WorkEnd::failed); },
                   [&](const Interrupted& e) { close_bar(e.trial, at, WorkEnd::interrupted); },
                   [&](const Overhead& e) {
                     WorkBar* bar = last_bar(e.trial);
                     if (bar && e.kind == OverheadKind::start_up) bar->start_up += seconds(e.cost);
                     if (bar && e.kind == OverheadKind::grace) bar->grace += seconds(e.cost);
                   },
                   [](const auto&) {}},
             stored.event);
}

StoredEvent LogDigest::event(EventSeq seq, const History& history) const {
  const Slot& slot = slots_.at(static_cast<std::size_t>(seq - 1));
  if (slot.trial < 0) return told_[static_cast<std::size_t>(slot.epoch)];
  return {.seq = seq, .at = slot.at, .event = report_on(history, TrialId{slot.trial}, slot.epoch)};
}

std::vector<StoredEvent> LogDigest::events_of(TrialId trial, const History& history) const {
  std::vector<StoredEvent> events;
  EventSeq seq = 0;
  for (const Slot& slot : slots_) {
    ++seq;
    const bool its = slot.trial < 0 ? trial_of(told_[static_cast<std::size_t>(slot.epoch)].event) == trial
                                    : slot.trial == index(trial);
    if (its) events.push_back(event(seq, history));
  }
  return events;
}

void ShownStudy::take(std::span<const StoredEvent> events, const std::optional<Damage>& damage_after) {
  for (const StoredEvent& stored : events) {
    damage = take_up(stored, history);
    if (damage) return;
    log.take(stored, history);
  }
  if (damage_after) damage = damage_after;
}

ShownStudy shown_study(const StudyView& study) {
  ShownStudy shown{{.dir = study.dir,
                    .history = History(study.spec()),
                    .controller = study.controller,
                    .damage = {},
                    .database = study.database}};
  shown.take(study.events, study.damage);
  return shown;
}

}  // namespace bapi
