#include "bapi/dashboard/planner.h"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>

#include <fmt/format.h>

#include "bapi/base/clock.h"
#include "bapi/dashboard/heap.h"
#include "bapi/policy/calibration.h"
#include "bapi/studies/forecast.h"
#include "bapi/studies/plan.h"
#include "bapi/studies/what_if.h"

namespace bapi {
namespace {

constexpr std::size_t kMostForecasts = 120;
constexpr std::size_t kMostCourses = 24;  // told epoch by epoch
constexpr int kFewestForecasts = 20;      // that must have come true or not before a certificate is believed
constexpr double kLeastCoverage = 0.6;    // of the 80 % interval
constexpr double kShare = 0.18;           // of a core that it uses in the long run: below a fifth in any half minute

bool may_grow(const Trial& trial) { return !trial.curve.empty() && (trial.segment || trial.resumable()); }

// The running ones first, then the best; those that were asked for in any case.
std::vector<const Trial*> trials_to_forecast(const History& history, const std::set<TrialId>& wanted) {
  std::vector<const Trial*> trials;
  for (const Trial& trial : history.trials()) {
    if (may_grow(trial) || (!trial.curve.empty() && wanted.contains(trial.id))) trials.push_back(&trial);
  }
  const auto rank = [&](const Trial* trial) { return wanted.contains(trial->id) ? 0 : trial->segment ? 1 : 2; };
  std::stable_sort(trials.begin(), trials.end(), [&](const Trial* a, const Trial* b) {
    if (rank(a) != rank(b)) return rank(a) < rank(b);
    return a->curve.best() > b->curve.best();
  });
  trials.resize(std::min(trials.size(), kMostForecasts));
  return trials;
}

Cell course_of(const CurveForecast& forecast) {
  std::vector<Cell> course;
  for (std::size_t t = 0; t < forecast.epochs.size(); ++t) {
    if (forecast.epochs[t] < forecast.done) continue;
    const Prediction& at = forecast.curve[t];
    course.emplace_back(
        Fields{{"epoch", forecast.epochs[t]}, {"expected", at.mean}, {"low", at.low}, {"high", at.high}});
  }
  return course;
}

Cell forecast_cell(const StudyState& study, const Insight& insight, const std::set<TrialId>& wanted) {
  std::vector<CurveForecast> forecasts;
  for (const Trial* trial : trials_to_forecast(study.history, wanted)) forecasts.push_back(insight.forecast(*trial));
  std::stable_sort(forecasts.begin(), forecasts.end(), [&](const CurveForecast& a, const CurveForecast& b) {
    if (wanted.contains(a.trial) != wanted.contains(b.trial)) return wanted.contains(a.trial);
    return a.chance_of_best > b.chance_of_best;
  });
  Cell list = list_of(forecast_table(study, forecasts));
  for (std::size_t i = 0; i < std::min(forecasts.size(), kMostCourses); ++i) {
    list[i]["course"] = course_of(forecasts[i]);
  }
  return list;
}

// Up to twice the present total, so that the page answers for any budget in between at once.
Cell what_if_cell(const StudyState& study, const Insight& insight, Cell expected) {
  const Budget budget = study.history.budget();
  const Cost to = 2.0 * std::max(budget.total(), budget.spent());
  const WhatIf outlook = what_if(study, insight, to);
  return Fields{{"spent", outlook.spent},
                {"total", budget.total()},
                {"to", to},
                {"ending", outlook.ending},
                {"expected", std::move(expected)},
                {"rows", list_of(what_if_table(outlook))}};
}

// What the rest of the present budget is expected to bring.
struct Rest {
  Cell expected = {};  // {budget, best, low, high}; null if nothing is left
  std::vector<double> gains = {};
};

Rest rest_of(const StudyState& study, const Insight& insight) {
  const Budget budget = study.history.budget();
  if (budget.total() <= budget.spent()) return {};
  const WhatIf outlook = what_if(study, insight, budget.total());
  const WhatIf::Row& last = outlook.rows.back();
  return {
      .expected =
          Fields{{"budget", last.budget}, {"best", last.best.mean}, {"low", last.best.low}, {"high", last.best.high}},
      .gains = outlook.plan.gains};
}

Cell certificate_cell(const StudyState& study, const Coverage& counted, const std::vector<double>& gains) {
  std::string reason;
  if (counted.count < kFewestForecasts) {
    reason = fmt::format("fewer than {} forecasts have come to their epoch so far", kFewestForecasts);
  } else if (counted.within_80 < kLeastCoverage) {
    reason = fmt::format("the 80 % interval held only {:.0f} % of the values", 100.0 * counted.within_80);
  }
  const std::optional<Best> now = best(study.history);
  return Fields{{"best", now ? Cell(now->value) : Cell()},
                {"remaining", study.history.budget().remaining()},
                {"gains", gains},
                {"forecasts", counted.count},
                {"within_80", counted.count > 0 ? Cell(counted.within_80) : Cell()},
                {"trusted", reason.empty()},
                {"reason", reason.empty() ? Cell() : Cell(reason)}};
}

// A tenth of what a training program gets next to it. At the lowest priority, an answer that takes a second of work
// would come after a minute where trials keep every core busy.
void lower_priority() {
  constexpr int kNice = 10;
  ::setpriority(PRIO_PROCESS, static_cast<id_t>(::gettid()), kNice);  // the nice value of Linux belongs to a thread
}

double seconds_now() { return SystemClock().now(); }

}  // namespace

Fields insight_answer(const InsightRecord& record, std::string_view which, EventSeq last) {
  const Cell& answer = which == "plan"       ? record.plan
                       : which == "what-if"  ? record.what_if
                       : which == "forecast" ? record.forecast
                                             : record.certificate;
  return {{"as_of", record.as_of},
          {"seq", last},
          {"computed_at", record.computed_at},
          {"trouble", record.trouble.empty() ? Cell() : Cell(record.trouble)},
          {"answer", answer}};
}

PlannerQuestion planner_question(const ShownStudy& study, const std::set<TrialId>& wanted) {
  return {.study = study,
          .as_of = study.log.last(),
          .counted = calibration(forecast_outcomes(study.history, study.log.trainings())).value,
          .wanted = wanted};
}

std::optional<InsightRecord> insight_record(const PlannerQuestion& question,
                                            double now,
                                            const std::function<bool()>& wanted) {
  const StudyState& study = question.study;
  InsightRecord record{.as_of = question.as_of, .computed_at = now};
  try {
    if (!wanted()) return std::nullopt;
    const Insight insight = insight_of(study);
    if (!wanted()) return std::nullopt;
    const Cost left = study.history.budget().remaining();
    const PlanSummary plan = insight.plan(left, insight.options().plan.horizon);
    if (!wanted()) return std::nullopt;
    record.plan = plan_record(study, plan, next_decision(study));
    if (!wanted()) return std::nullopt;
    Rest rest = rest_of(study, insight);
    record.certificate = certificate_cell(study, question.counted, rest.gains);
    if (!wanted()) return std::nullopt;
    record.what_if = what_if_cell(study, insight, std::move(rest.expected));
    if (!wanted()) return std::nullopt;
    record.forecast = forecast_cell(study, insight, question.wanted);
  } catch (const Error& error) {
    record.trouble = error.what();
  }
  return record;
}

double planner_rest(double used, double elapsed) { return std::max(0.0, used / kShare - elapsed); }

Planner::Planner() : thread_([this] { work(); }) {}

Planner::~Planner() {
  {
    const std::lock_guard lock(mutex_);
    ending_ = true;
  }
  wake_.notify_all();
  thread_.join();
}

std::shared_ptr<const InsightRecord> Planner::ask(const std::shared_ptr<LiveStudy>& study,
                                                  const std::set<TrialId>& wanted) {
  const EventSeq last = study->read([](const ShownStudy& shown) { return shown.log.last(); });
  const std::lock_guard lock(mutex_);
  Entry& entry = entries_[study->id()];
  entry.study = study;
  const bool more = !std::includes(entry.wanted.begin(), entry.wanted.end(), wanted.begin(), wanted.end());
  if (entry.wanted.size() > kMostCourses / 2) entry.wanted.clear();
  entry.wanted.insert(wanted.begin(), wanted.end());
  entry.attention.asked(time_.now());
  if (more || !entry.record || entry.record->as_of != last) {
    entry.due = true;
    wake_.notify_all();
  }
  return entry.record;
}

std::shared_ptr<const InsightRecord> Planner::latest(const std::string& id, bool shown) {
  const std::lock_guard lock(mutex_);
  const auto found = entries_.find(id);
  if (found == entries_.end()) return nullptr;
  if (shown) found->second.attention.shown(time_.now());
  return found->second.record;
}

// Those without any record first.
Planner::Entry* Planner::next_due() {
  Entry* next = nullptr;
  for (auto& [id, entry] : entries_) {
    if (entry.due && entry.attention.lasts(time_.now()) && (!next || (next->record && !entry.record))) next = &entry;
  }
  return next;
}

void Planner::work() {
  lower_priority();
  std::unique_lock lock(mutex_);
  while (true) {
    wake_.wait(lock, [&] { return ending_ || next_due() != nullptr; });
    if (ending_) return;
    Entry& entry = *next_due();
    entry.due = false;
    const std::shared_ptr<LiveStudy> study = entry.study;
    const std::set<TrialId> wanted = entry.wanted;
    lock.unlock();
    const SystemClock time;
    const ThreadClock used;
    const double began = time.now();
    const double used_before = used.now();
    std::shared_ptr<const InsightRecord> record;
    try {
      const PlannerQuestion question =
          study->read([&](const ShownStudy& shown) { return planner_question(shown, wanted); });
      const auto wanted_still = [&] {
        const std::lock_guard again(mutex_);
        return !ending_ && entry.attention.lasts(time_.now());
      };
      std::optional<InsightRecord> found = insight_record(question, seconds_now(), wanted_still);
      if (found) record = std::make_shared<InsightRecord>(std::move(*found));
    } catch (const Error&) {
      // It cannot be read any more: whoever asks is told so by the study itself.
    }
    give_back_memory();
    const std::chrono::duration<double> rest(planner_rest(used.now() - used_before, time.now() - began));
    lock.lock();
    if (record) {
      entry.record = std::move(record);
    } else if (!entry.attention.lasts(time_.now())) {
      entry.due = true;  // whoever shows it again finds it where it was left
    }
    wake_.wait_for(lock, rest, [&] { return ending_ || (next_due() && !next_due()->record); });
  }
}

}  // namespace bapi
