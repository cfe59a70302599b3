#include "bapi/dashboard/api.h"

#include <fmt/format.h>

#include <algorithm>

#include "bapi/base/error.h"
#include "bapi/base/number.h"
#include "bapi/base/split.h"
#include "bapi/base/utf8.h"
#include "bapi/control/requests.h"
#include "bapi/dashboard/answers.h"
#include "bapi/dashboard/chart_answers.h"
#include "bapi/dashboard/decision_answers.h"
#include "bapi/dashboard/heap.h"
#include "bapi/dashboard/page.h"
#include "bapi/dashboard/stream.h"
#include "bapi/dashboard/trial_answers.h"
#include "bapi/report/text.h"
#include "bapi/studies/study_insight.h"
#include "bapi/studies/write_request.h"

namespace bapi {
namespace {

constexpr std::chrono::seconds kPatience{4};  // for a study that is still being read
constexpr std::chrono::milliseconds kFresh{50};
constexpr int kMostStreams = 16;
constexpr std::size_t kLargeAnswer = 1 << 18;

HttpAnswer no_such_path() { return http_error(404, "there is no such path", "docs/dashboard.md lists the paths"); }

// What an answer about a study depends on: the events, the log that they stand in, and who runs the study, since trials
// that nobody trains are interrupted.
std::string version_of(const ShownStudy& view, const std::optional<Leader>& leader) {
  return fmt::format("\"{}-{:.3f}-{}\"",
                     view.log.last(),
                     view.log.empty() ? 0.0 : view.log.began(),
                     leader ? std::to_string(leader->pid) : "");
}

HttpAnswer record_answer(Fields record, EventSeq seq) {
  const bool there = std::any_of(record.begin(), record.end(), [](const auto& field) { return field.first == "seq"; });
  if (!there) record.emplace_back("seq", seq);
  return {.body = compact_json(record) + "\n"};
}

// "1,2,7"
std::set<TrialId> trials_in(std::string_view text, std::int64_t trials) {
  std::set<TrialId> wanted;
  if (text.empty()) return wanted;
  for (const std::string& part : split(text, ',')) {
    const auto number = number_in<std::int64_t>(part);
    require(number && *number >= 0 && *number < trials,
            fmt::format("trials: expected numbers from 0 to {}, separated by commas", trials - 1));
    if (wanted.size() < 12) wanted.insert(TrialId{*number});
  }
  return wanted;
}

HttpAnswer secured(HttpAnswer answer) {
  for (auto& header : security_headers()) answer.headers.push_back(std::move(header));
  return answer;
}

Cell loading_entry(const LiveStudy& study) {
  const std::string trouble = study.trouble();
  return Fields{{"id", study.id()},
                {"name", study.place().name()},
                {"state", trouble.empty() ? "loading" : "unreadable"},
                {"error", trouble.empty() ? Cell() : Cell(trouble)}};
}

}  // namespace

HttpAnswer Api::answer(const HttpRequest& request) {
  HttpAnswer answer;
  try {
    answer = route(request);
  } catch (const InvalidInput& error) {
    answer = http_error(400, error.what());
  } catch (const StoreError& error) {
    answer = http_error(503, error.what());
  }
  if (answer.body.size() > kLargeAnswer) give_back_memory();  // what it was made of
  return secured(std::move(answer));
}

std::optional<HttpAnswer> Api::refuse(const HttpRequest& request) const {
  std::optional<HttpAnswer> refused = refusal(request, rules_);
  if (refused) refused = secured(std::move(*refused));
  return refused;
}

HttpAnswer Api::route(const HttpRequest& request) {
  if (!request.path.starts_with("/api/")) return page_file(request.path);
  const std::vector<std::string> path = split(std::string_view(request.path).substr(1), '/');
  if (path.size() < 3 || path[1] != "v1") return no_such_path();
  if (path[2] == "login" && path.size() == 3) {
    return request.method == "POST" ? log_in(request) : http_error(405, "expected POST");
  }
  if (path[2] == "stream" && path.size() == 3) return stream(request);
  if (path[2] != "studies") return no_such_path();
  catalogue_.look();
  if (path.size() == 3) return studies();
  const std::shared_ptr<LiveStudy> study = catalogue_.find(path[3]);
  if (!study) return http_error(404, "there is no such study", "GET /api/v1/studies lists them");
  if (!study->wait_until_read(kPatience)) return http_error(503, "the study is still being read", "ask again");
  study->follow(kFresh);
  return of_study(study, {path.begin() + 4, path.end()}, request);
}

HttpAnswer Api::log_in(const HttpRequest& request) const {
  const Cell body = Cell::parse(request.body, nullptr, false);
  const bool given = body.is_object() && body.contains("token") && body["token"].is_string();
  if (!rules_.token.empty() && (!given || !is_token(body["token"].get<std::string>(), rules_))) {
    return http_error(401, "the token is wrong", "open the address that bapi dashboard has printed");
  }
  return {.body = "{}\n",
          .headers = {{"Set-Cookie",
                       fmt::format("{}={}; HttpOnly; SameSite=Strict; Path=/", cookie_name(rules_), rules_.token)}}};
}

HttpAnswer Api::studies() {
  const int version = catalogue_.version();  // first: what appears meanwhile counts as unseen
  std::vector<Cell> list;
  for (const std::shared_ptr<LiveStudy>& study : catalogue_.studies()) {
    if (!study->is_read()) {
      list.push_back(loading_entry(*study));
      continue;
    }
    study->follow(kFresh);
    if (!study->trouble().empty()) {
      list.push_back(loading_entry(*study));
      continue;
    }
    list.emplace_back(study->read([&](const ShownStudy& view) { return list_entry(view, study->id()); }));
  }
  return {.body = compact_json(Fields{{"studies", std::move(list)},
                                      {"searched", catalogue_.searched()},
                                      {"version", version},
                                      {"read_only", rules_.read_only},
                                      {"now", clock_.calendar()}}) +
                  "\n"};
}

HttpAnswer Api::insight(const std::shared_ptr<LiveStudy>& study, const std::string& what, const HttpRequest& request) {
  const auto [last, trials] =
      study->read([](const ShownStudy& view) { return std::pair(view.log.last(), std::ssize(view.history.trials())); });
  const std::set<TrialId> wanted = trials_in(request.parameter("trials"), trials);
  const std::shared_ptr<const InsightRecord> record = planner_.ask(study, wanted);
  if (!record) return {.status = 202, .body = compact_json(Fields{{"as_of", Cell()}, {"seq", last}}) + "\n"};
  HttpAnswer out{.body = compact_json(insight_answer(*record, what, last)) + "\n"};
  out.status = record->as_of == last ? 200 : 202;
  return out;
}

HttpAnswer Api::of_study(const std::shared_ptr<LiveStudy>& study,
                         const std::vector<std::string>& path,
                         const HttpRequest& request) {
  const std::string what = path.empty() ? "" : path[0];
  if (what == "requests" && path.size() == 1) {
    return request.method == "POST" ? take_request(study, request) : http_error(405, "expected POST");
  }
  if (request.method == "POST") return no_such_path();
  if (what == "requests" && path.size() == 2 && Mailbox::is_id(path[1])) {
    const RequestBox::Answer answer = study->place().requests().answer(path[1]);
    return {.body = compact_json(Fields{{"state", word(answer.standing)},
                                        {"reason", answer.reason.empty() ? Cell() : Cell(answer.reason)}}) +
                    "\n"};
  }
  if (path.size() == 1 && std::ranges::find(kInsights, what) != kInsights.end()) return insight(study, what, request);
  const std::optional<Leader> leader = study->leader();
  return study->read([&](const ShownStudy& view) -> HttpAnswer {
    const std::string version = version_of(view, leader);
    // Whoever has the answer already is told so.
    const auto versioned = [&](auto answer_now) {
      HttpAnswer answer{.status = 304};
      if (request.header("if-none-match") != version) answer = answer_now();
      answer.headers.emplace_back("ETag", version);
      return answer;
    };
    const auto record = [&](auto look, const auto&... more) {
      return versioned([&] { return record_answer(look(view, more...), view.log.last()); });
    };
    if (path.empty()) return record(overview_record, leader, clock_.calendar());
    if (path.size() == 1) {
      if (what == "trials") return record(trials_page, request.query);
      if (what == "decisions") return record(decisions_page, request.query);
      if (what == "burndown") return record(burndown_record, request.query);
      if (what == "incumbent") return record(incumbent_record);
      if (what == "timeline") return record(timeline_record, request.query);
      if (what == "calibration") return record(calibration_record);
      if (what == "curves") {
        if (request.header("accept").find("json") != std::string_view::npos) return record(curves_record);
        return versioned([&] { return HttpAnswer{.type = "application/octet-stream", .body = binary_curves(view)}; });
      }
    }
    if (what == "trials" && path.size() <= 3) {
      const auto number = number_in<std::int64_t>(path[1]);
      if (!number || *number < 0 || *number >= std::ssize(view.history.trials())) {
        return http_error(404,
                          fmt::format("there is no trial {}", visible_line(clipped(path[1], 40))),
                          fmt::format("the study has {}", plural(std::ssize(view.history.trials()), "trial")));
      }
      const Trial& trial = view.history.trial(TrialId{*number});
      if (path.size() == 2) return record(trial_page, trial);
      if (path[2] == "log") {
        return {.body = compact_json(log_page(view, trial, request.query)) + "\n"};
      }
    }
    return no_such_path();
  });
}

// What the page asks of a study: left for its controller, which decides. Without one, what may be written is written.
HttpAnswer Api::take_request(const std::shared_ptr<LiveStudy>& study, const HttpRequest& request) const {
  const StudyRequest asked = study->read([&](const ShownStudy& view) {
    return decode_request(request.body, [&](const std::string& total) { return parse_total(total, view); });
  });
  const RequestOutcome outcome = hand_in(study->place(), asked, clock_.calendar());
  if (outcome.standing == RequestBox::Standing::refused) return http_error(409, outcome.reason);
  if (outcome.standing == RequestBox::Standing::done) study->follow();
  return {.status = 202, .body = compact_json(Fields{{"request", outcome.id.empty() ? "0" : outcome.id}}) + "\n"};
}

HttpAnswer Api::stream(const HttpRequest& request) {
  // Released with the last copy of the function, however the connection ends.
  const std::shared_ptr<void> place(static_cast<void*>(&streams_), [this](void*) { --streams_; });
  if (++streams_ > kMostStreams) {
    return http_error(503, "too many pages follow this dashboard", "ask every two seconds instead");
  }
  const auto state = std::make_shared<EventStream>(
      catalogue_, planner_, clock_, cursors_of(request), planned_of(request), list_version_of(request));
  HttpAnswer answer{.type = "text/event-stream"};
  answer.stream = [this, state, place](const HttpWrite& write) { return state->step(write, ending_.load()); };
  return answer;
}

}  // namespace bapi
