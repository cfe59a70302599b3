#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <span>
#include <vector>

#include "bapi/base/names.h"
#include "bapi/dashboard/thinning.h"
#include "bapi/policy/calibration.h"
#include "bapi/report/summary.h"
#include "bapi/studies/study_view.h"

namespace bapi {

// What was spent by an event, and the total as it was then.
struct BurndownPoint {
  double at = 0.0;
  Cost total = 0.0;
  Spending spent = {};
  bool step = false;  // of the total: this point or the next one

  Cost left() const;
};

// A report on the way of the best: what the study had spent by then, and the value.
struct ReportDot {
  Cost spent = 0.0;
  double value = 0.0;  // in the user's direction
  TrialId trial{};
};

// How a stretch of training ended, if it has.
enum class WorkEnd { running, stopped, done, ended, failed, interrupted };
template <>
inline constexpr auto names<WorkEnd> = NameTable{Name{WorkEnd::running, "running"},
                                                 Name{WorkEnd::stopped, "stopped"},
                                                 Name{WorkEnd::done, "done"},
                                                 Name{WorkEnd::ended, "ended"},
                                                 Name{WorkEnd::failed, "failed"},
                                                 Name{WorkEnd::interrupted, "interrupted"}};

// A stretch of time in which a trial was trained.
struct WorkBar {
  TrialId trial{};
  Epoch until = 0;
  double begin = 0.0;
  std::optional<double> end = {};
  double start_up = 0.0;  // seconds
  double grace = 0.0;
  WorkEnd how = WorkEnd::running;
};

// What a log adds up to besides its history, folded event by event: pages are answered without reading the log again,
// and without keeping it. A report costs 16 bytes beyond its point on the curve; of what charts show, so much is kept
// as a screen can tell apart.
class LogDigest {
 public:
  LogDigest() = default;
  LogDigest(LogDigest&&) = default;
  LogDigest& operator=(LogDigest&&) = default;

  // Told of every event in order, after `history` has taken it up.
  void take(const StoredEvent& stored, const History& history);

  EventSeq last() const { return std::ssize(slots_); }
  bool empty() const { return slots_.empty(); }
  double began() const { return slots_.front().at; }   // seconds since the Unix epoch, as all times here
  double changed() const { return slots_.back().at; }  // both only if it is not empty
  std::optional<double> first_decision_at() const { return first_decision_at_; }
  double last_seen(TrialId trial) const { return last_seen_[static_cast<std::size_t>(index(trial))]; }

  // Every event but the reports on the curves.
  const std::deque<StoredEvent>& told() const { return told_; }
  std::span<const TrainingDecision> trainings() const { return trainings_; }

  const Spending& spending() const { return burndown_now_.spent; }
  const std::vector<BurndownPoint>& burndown() const { return burndown_; }
  const std::vector<SpentReport>& improvements() const { return improvements_; }
  const std::vector<ReportDot>& dots() const { return dots_; }
  std::int64_t reports() const { return reports_; }
  const std::vector<WorkBar>& bars() const { return bars_; }

  // Events as the log holds them; `history` is the one that has taken up exactly these.
  StoredEvent event(EventSeq seq, const History& history) const;
  std::vector<StoredEvent> events_of(TrialId trial, const History& history) const;

 private:
  // An event by its position: a report on a curve, or, with a negative trial, told_[epoch].
  struct Slot {
    double at = 0.0;
    std::int32_t trial = -1;
    std::int32_t epoch = 0;
  };

  const StoredEvent& keep(const StoredEvent& stored, const History& history);
  void charge(const StoredEvent& stored, const History& history);
  void follow_best(const StoredEvent& stored, const History& history);
  void follow_work(const StoredEvent& stored, const BudgetSpec& budget);
  WorkBar* last_bar(TrialId trial);
  void open_bar(TrialId trial, Epoch until, double at);
  void close_bar(TrialId trial, double at, WorkEnd how);

  std::deque<Slot> slots_;
  std::deque<StoredEvent> told_;
  std::vector<TrainingDecision> trainings_;  // their reasons are in told_
  std::vector<double> last_seen_;            // by trial
  std::optional<double> first_decision_at_;

  LedgerReader ledger_;
  BurndownPoint burndown_now_;
  std::vector<BurndownPoint> burndown_;

  BestFollower best_;
  bool improvement_is_latest_ = false;  // improvements_.back() is of the latest report
  std::vector<SpentReport> improvements_;
  std::vector<ReportDot> dots_;
  std::int64_t reports_ = 0;

  std::vector<WorkBar> bars_;
  std::vector<std::int32_t> last_bar_;  // by trial; -1 if it has none
};

// A study as the dashboard holds it.
struct ShownStudy : StudyState {
  LogDigest log = {};

  // Takes up what follows; where it cannot follow, the log is damaged there.
  void take(std::span<const StoredEvent> events, const std::optional<Damage>& damage);
};

ShownStudy shown_study(const StudyView& study);

std::vector<BurndownPoint> thinned(const std::vector<BurndownPoint>& points, std::size_t most);
std::vector<ReportDot> thinned(const std::vector<ReportDot>& dots, std::size_t most);

}  // namespace bapi
