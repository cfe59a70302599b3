#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "bapi/base/error.h"
#include "bapi/base/file.h"
#include "bapi/base/split.h"
#include "bapi/dashboard/chart_answers.h"
#include "bapi/dashboard/decision_answers.h"
#include "bapi/dashboard/guard.h"
#include "bapi/dashboard/stream.h"
#include "bapi/dashboard/trial_answers.h"
#include "bapi/studies/study_insight.h"
#include "fuzz/scratch.h"
#include "fuzz/targets.h"

namespace bapi::fuzz {
namespace {

// At least one.
std::vector<std::string> lines_of(std::string_view input) {
  std::vector<std::string> lines = split(input, '\n');
  if (lines.empty()) lines.emplace_back();
  return lines;
}

// "name<mark>value"
std::pair<std::string, std::string> pair_of(const std::string& line, char mark) {
  const std::size_t at = std::min(line.find(mark), line.size());
  return {line.substr(0, at), line.substr(std::min(at + 1, line.size()))};
}

// Two trials, one of which runs, with a log.
const ShownStudy& small_study() {
  static const ShownStudy study = [] {
    const StudyDir dir(scratch() / "small.bapi");
    StudySpec spec;
    spec.name = "small";
    spec.epochs = {.min = 1, .max = 5};
    spec.budget = {.limit = 20.0, .meter = Meter::epochs};
    const std::vector<Event> events = {
        TrialStarted{.trial = TrialId{0}, .config = {{0.5}}, .until = 2, .expected_cost = 2.0},
        Measured{.trial = TrialId{0}, .measurement = {1, 0.5, 1.0}},
        Measured{.trial = TrialId{0}, .measurement = {2, 0.7, 1.0}},
        SegmentDone{.trial = TrialId{0}},
        TrialStarted{.trial = TrialId{1}, .config = {{0.1}}, .until = 5, .expected_cost = 5.0},
        Measured{.trial = TrialId{1}, .measurement = {1, 0.4, 1.0}},
    };
    std::vector<StoredEvent> stored;
    for (const Event& event : events) {
      stored.push_back({.seq = std::ssize(stored) + 1, .at = 1.0, .event = event});
    }
    ShownStudy made{{.dir = dir, .history = History(spec)}};
    made.take(stored, {});
    check(!made.damage, "the study of the target is damaged");
    dir.trial(TrialId{0}).create();
    replace_file(dir.trial(TrialId{0}).log(), "epoch 1\nepoch 2 \xff\n");
    return made;
  }();
  return study;
}

}  // namespace

// METHOD PATH, then a header on every line.
void read_http_headers(std::string_view input) {
  const std::vector<std::string> lines = lines_of(input);
  const auto [method, path] = pair_of(lines.front(), ' ');
  HttpRequest request{.method = method, .path = path};
  for (std::size_t i = 1; i < lines.size(); ++i) request.headers.push_back(pair_of(lines[i], ':'));
  const GuardRules rules{.port = 8787, .token = "0123456789abcdef"};
  const bool passes = !refusal(request, rules);
  check(!passes || request.method == "GET" || request.method == "HEAD" || request.header("x-bapi") == "1",
        "a change is taken from elsewhere");
  check(!passes || path == "/api/v1/login" || !path.starts_with("/api/") ||
            input.find(rules.token) != std::string_view::npos,
        "data is given to somebody without the token");
  check(text_of(cursors_of(request)) == text_of(cursors_of(request)), "a cursor is read in two ways");
}

// A page, then a parameter of its query on every line.
void read_http_query(std::string_view input) {
  const ShownStudy& study = small_study();
  const std::vector<std::string> lines = lines_of(input);
  HttpRequest request;
  for (std::size_t i = 1; i < lines.size(); ++i) request.query.push_back(pair_of(lines[i], '='));
  const std::string& page = lines.front();
  if (page == "trials") trials_page(study, request.query);
  if (page == "decisions") decisions_page(study, request.query);
  if (page == "burndown") burndown_record(study, request.query);
  if (page == "log") log_page(study, study.history.trials()[0], request.query);
  if (page == "stream") {
    HttpRequest again;
    const Cursors cursors = cursors_of(request);
    again.headers = {{"last-event-id", text_of(cursors)}};
    const bool plain = std::none_of(
        cursors.begin(), cursors.end(), [](const auto& one) { return one.first.find(',') != std::string::npos; });
    check(!plain || cursors_of(again) == cursors, "a follower is not where it was");
  }
  if (page == "total") {
    const Cost total = parse_total(std::string(request.parameter("total")), study);
    check(total >= 0.0, "a total is none");
  }
}

}  // namespace bapi::fuzz
