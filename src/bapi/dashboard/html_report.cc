#include "bapi/dashboard/html_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "bapi/dashboard/answers.h"
#include "bapi/dashboard/chart_answers.h"
#include "bapi/dashboard/decision_answers.h"
#include "bapi/dashboard/page.h"
#include "bapi/dashboard/planner.h"
#include "bapi/dashboard/trial_answers.h"
#include "bapi/report/text.h"

namespace bapi {
namespace {

constexpr std::size_t kMostPoints = 60'000;      // of all curves together
constexpr std::size_t kMostPageBytes = 1 << 21;  // of the pages of trials
constexpr const char* kId = "study";

// The best first, then those that failed, then the others.
std::vector<const Trial*> by_interest(const History& history) {
  std::vector<const Trial*> trials;
  for (const Trial& trial : history.trials()) trials.push_back(&trial);
  const auto failed = [](const Trial* trial) { return trial->state == TrialState::failed; };
  std::stable_sort(trials.begin(), trials.end(), [&](const Trial* a, const Trial* b) {
    if (a->curve.empty() || b->curve.empty())
      return a->curve.empty() == b->curve.empty() ? failed(a) && !failed(b) : b->curve.empty();
    return a->curve.best() > b->curve.best();
  });
  return trials;
}

// Seven digits: a picture has fewer.
Cell shortened(const Cell& number) {
  if (!number.is_number_float()) return number;
  return std::stod(fmt::format("{:.7g}", number.get<double>()));
}

struct KeptCurves {
  Cell record = {};
  std::size_t count = 0;  // trials whose curves are kept
};

KeptCurves curves_within(const ShownStudy& study, std::size_t most) {
  std::set<std::int64_t> kept;
  std::size_t points = 0;
  for (const Trial* trial : by_interest(study.history)) {
    points += trial->curve.points().size();
    if (points > most && !kept.empty()) break;
    kept.insert(index(trial->id));
  }
  KeptCurves curves{.record = curves_record(study), .count = kept.size()};
  for (Cell& curve : curves.record["curves"]) {
    const bool keep = kept.contains(curve["trial"].get<std::int64_t>());
    for (const char* list : {"values", "costs"}) {
      if (!keep) curve[list] = Cell::array();
      for (Cell& number : curve[list]) number = shortened(number);
    }
  }
  return curves;
}

}  // namespace

std::string html_report(const StudyView& view, const HtmlReportOptions& options, double now) {
  const ShownStudy study = shown_study(view);
  const EventSeq seq = study.log.last();
  const std::string base = fmt::format("studies/{}", kId);
  const InsightRecord insight =
      options.planner ? insight_record(planner_question(study, {}), now, [] { return true; }).value()
                      : InsightRecord{.as_of = seq, .computed_at = now, .trouble = "The planner was not asked."};
  Fields answers;
  const auto add = [&](const std::string& path, Cell cell) { answers.emplace_back(path, std::move(cell)); };

  add("studies",
      Fields{{"studies", std::vector<Cell>{list_entry(study, kId)}},
             {"searched", Cell::array()},
             {"read_only", true},
             {"now", now}});
  add(base, overview_record(study, std::nullopt, now));
  add(base + "/trials?limit=100000", trials_page(study, {{"limit", "100000"}}));
  add(base + "/decisions?limit=2000", decisions_page(study, {{"limit", "500"}}));
  add(base + "/burndown", burndown_record(study, {}));
  add(base + "/incumbent", incumbent_record(study));
  add(base + "/timeline", timeline_record(study, {}));
  add(base + "/calibration", calibration_record(study));
  for (const std::string_view which : kInsights) {
    add(fmt::format("{}/{}", base, which), insight_answer(insight, which, seq));
  }
  KeptCurves curves = curves_within(study, kMostPoints);
  add(base + "/curves", std::move(curves.record));

  std::size_t bytes = 0;
  std::size_t pages = 0;
  for (const Trial* trial : by_interest(study.history)) {
    Cell page = trial_page(study, *trial);
    bytes += compact_json(page).size();
    if (bytes > kMostPageBytes) break;
    const std::string path = fmt::format("{}/trials/{}", base, index(trial->id));
    add(path, std::move(page));
    if (options.logs && trial->state == TrialState::failed) {
      add(path + "/log", log_page(study, *trial, {{"bytes", "4096"}}));
    }
    ++pages;
  }
  const std::size_t all = study.history.trials().size();
  std::string note;
  if (curves.count < all)
    note =
        fmt::format("curves of the {} best of {}", curves.count, plural(std::ssize(study.history.trials()), "trial"));
  if (pages < all) note += fmt::format("{}pages of {} trials", note.empty() ? "" : ", ", pages);
  return page_with_data(Fields{{"now", now}, {"seq", seq}, {"note", note}, {"answers", std::move(answers)}});
}

}  // namespace bapi
