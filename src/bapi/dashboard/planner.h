#pragma once

#include <array>
#include <condition_variable>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string_view>
#include <thread>

#include "bapi/base/clock.h"
#include "bapi/dashboard/live_study.h"
#include "bapi/report/table.h"

namespace bapi {

// What the models say of a study as of an event of its log. The records are those of `bapi plan`, `bapi what-if` and
// `bapi forecast`, and what the page needs besides.
struct InsightRecord {
  EventSeq as_of = 0;
  double computed_at = 0.0;  // seconds since the Unix epoch
  std::string trouble = {};  // why there is none ("no trial has reported a value yet: ..."); then the cells are null
  Cell plan = {};
  Cell what_if = {};      // {spent, total, to, ending, expected, rows: [{runs, budget, best, low, high}]}
  Cell forecast = {};     // [{trial, ..., course: [{epoch, expected, low, high}]}]
  Cell certificate = {};  // {best, remaining, gains: [...], forecasts, within_80, trusted, reason}
};

inline constexpr std::array<std::string_view, 4> kInsights = {"plan", "what-if", "forecast", "certificate"};

// One of them as the API gives it: {as_of, seq, computed_at, trouble, answer}. `last` is the study's last event by now.
Fields insight_answer(const InsightRecord& record, std::string_view which, EventSeq last);

// What the planner has to know of a study: a copy, since studies grow while it thinks.
struct PlannerQuestion {
  StudyState study;
  EventSeq as_of = 0;
  Coverage counted = {};          // how often forecasts of values came true
  std::set<TrialId> wanted = {};  // trials whose forecasts are asked for in any case, besides those that can still
                                  // grow, the most promising first
};
PlannerQuestion planner_question(const ShownStudy& study, const std::set<TrialId>& wanted);

// Fits the models once. `wanted` is asked between the parts of the record: nullopt once it says no.
std::optional<InsightRecord> insight_record(const PlannerQuestion& question,
                                            double now,
                                            const std::function<bool()>& wanted);

// How long the planner rests after an answer that took `elapsed` seconds and `used` seconds of the processor, so that
// it uses a fifth of a core at most. Where training programs leave it less, it has waited long enough already.
double planner_rest(double used, double elapsed);

// Whether anybody looks at what the planner thinks of a study. A page says so ten times a second for as long as it
// shows a panel of the planner; a script that asks without following the study may come back later.
class Attention {
 public:
  void asked(double now) { until_ = now + 60.0; }
  void shown(double now) { until_ = now + 3.0; }
  bool lasts(double now) const { return now < until_; }

 private:
  double until_ = 0.0;
};

// Computes records in one thread of low priority, only of studies that were asked for since the last one, and rests in
// between. What nobody looks at any more is not begun, and given up where it was.
class Planner {
 public:
  Planner();
  ~Planner();

  // The latest record of a study, nullptr if there is none yet. Unless it is of the study as it stands, a newer one is
  // begun.
  std::shared_ptr<const InsightRecord> ask(const std::shared_ptr<LiveStudy>& study, const std::set<TrialId>& wanted);

  // The latest record, without asking for another. `shown`: it is on somebody's screen.
  std::shared_ptr<const InsightRecord> latest(const std::string& id, bool shown);

 private:
  struct Entry {
    std::shared_ptr<LiveStudy> study;
    std::shared_ptr<const InsightRecord> record;
    std::set<TrialId> wanted;
    Attention attention;
    bool due = false;
  };
  void work();
  Entry* next_due();

  SystemClock time_;
  std::mutex mutex_;
  std::condition_variable wake_;
  std::map<std::string, Entry> entries_;
  bool ending_ = false;
  std::thread thread_;
};

}  // namespace bapi
