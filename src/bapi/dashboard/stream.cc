#include "bapi/dashboard/stream.h"

#include <fmt/format.h>

#include <algorithm>
#include <thread>

#include "bapi/base/error.h"
#include "bapi/base/number.h"
#include "bapi/base/split.h"
#include "bapi/dashboard/answers.h"
#include "bapi/study/codec.h"

namespace bapi {
namespace {

constexpr EventSeq kBatch = 500;
constexpr std::chrono::milliseconds kLook{100};
constexpr std::chrono::milliseconds kBetweenStatuses{200};
constexpr std::chrono::seconds kHeartbeat{2};

void read_cursor(std::string_view text, Cursors& cursors) {
  const std::size_t colon = std::min(text.rfind(':'), text.size());
  const auto seq = number_in<EventSeq>(text.substr(std::min(colon + 1, text.size())));
  require(colon > 0 && seq && *seq >= 0, "at: expected a study and the number of an event, as in mlp:1042");
  require(cursors.size() < 1000, "at: too many studies");
  cursors[std::string(text.substr(0, colon))] = *seq;
}

// The events after `after` as JSON, at most a batch; the text is made here since codecs write text.
std::string batch_of(const ShownStudy& view, EventSeq after, EventSeq until) {
  std::string list = "[";
  for (EventSeq seq = after + 1; seq <= until; ++seq) {
    const StoredEvent stored = view.log.event(seq, view.history);
    if (seq > after + 1) list += ',';
    list += fmt::format(R"({{"seq":{},"at":{},"kind":"{}","event":{}}})",
                        stored.seq,
                        stored.at,
                        kind_of(stored.event),
                        encode(stored.event));
  }
  return list + "]";
}

}  // namespace

Cursors cursors_of(const HttpRequest& request) {
  Cursors cursors;
  if (const std::string_view last = request.header("last-event-id"); !last.empty()) {
    for (const std::string& part : split(last, ',')) read_cursor(part, cursors);
    return cursors;
  }
  for (const auto& [name, value] : request.query) {
    if (name == "at") read_cursor(value, cursors);
  }
  return cursors;
}

std::set<std::string> planned_of(const HttpRequest& request) {
  std::set<std::string> planned;
  for (const auto& [name, value] : request.query) {
    if (name == "planner") planned.insert(value);
  }
  require(planned.size() < 1000, "planner: too many studies");
  return planned;
}

std::optional<int> list_version_of(const HttpRequest& request) {
  const std::string_view text = request.parameter("list");
  if (text.empty()) return std::nullopt;
  const auto version = number_in<int>(text);
  require(version && *version >= 0, "list: expected the version of a list of studies");
  return version;
}

std::string text_of(const Cursors& cursors) {
  std::string text;
  for (const auto& [id, seq] : cursors) text += fmt::format("{}{}:{}", text.empty() ? "" : ",", id, seq);
  return text;
}

bool EventStream::send(const HttpWrite& write, std::string_view event, const std::string& data) const {
  return write(fmt::format("event: {}\nid: {}\ndata: {}\n\n", event, text_of(cursors_), data));
}

bool EventStream::step(const HttpWrite& write, bool ending) {
  if (ending) {
    send(write, "bye", "{}");
    return false;
  }
  const auto now = std::chrono::steady_clock::now();
  if (!greeted_) {
    greeted_ = true;
    wrote_ = now;
    if (!write("retry: 1000\n\n")) return false;
  }
  catalogue_.look();
  if (catalogue_.version() != version_) {
    version_ = catalogue_.version();
    if (!send(write, "studies", "{}")) return false;
    wrote_ = now;
  }
  for (const auto& [id, seq] : Cursors(cursors_)) {
    if (!tell_study(id, write)) return false;
  }
  if (now - wrote_ >= kHeartbeat) {
    wrote_ = now;
    if (!write(": here\n\n")) return false;
  }
  std::this_thread::sleep_for(kLook);
  return true;
}

bool EventStream::tell_study(const std::string& id, const HttpWrite& write) {
  const std::shared_ptr<LiveStudy> study = catalogue_.find(id);
  if (!study || !study->is_read()) return true;
  study->follow(kLook / 2);
  Followed& followed = followed_[id];
  const auto now = std::chrono::steady_clock::now();
  const std::optional<Leader> leader = study->leader();
  const std::string trouble = study->trouble();
  const std::string controller = trouble + (leader ? fmt::format("{} {}", leader->pid, leader->host) : "");
  EventSeq& cursor = cursors_[id];
  std::string batch;
  std::optional<Fields> status;
  if (trouble.empty()) {
    study->read([&](const ShownStudy& view) {
      const EventSeq last = view.log.last();
      if (last < cursor) cursor = 0;  // the study was made anew
      if (last > cursor) {
        const EventSeq until = std::min(last, cursor + kBatch);
        batch = batch_of(view, cursor, until);
        cursor = until;
      }
      const bool changed = last != followed.told || controller != followed.controller;
      if (changed && now - followed.status_at >= kBetweenStatuses) {
        status = live_record(view, leader, clock_.calendar());
        followed.told = last;
      }
    });
  } else if (controller != followed.controller) {
    status = Fields{{"state", "unreadable"}, {"error", trouble}};
  }
  // The status first: its numbers are what people wait for.
  if (status) {
    followed.controller = controller;
    followed.status_at = now;
    status->emplace_back("study", id);
    if (!send(write, "status", compact_json(*status))) return false;
    wrote_ = now;
  }
  if (!batch.empty()) {
    if (!send(write, "log", fmt::format(R"({{"study":{},"events":{}}})", compact_json(id), batch))) return false;
    wrote_ = now;
  }
  const std::shared_ptr<const InsightRecord> insight = planner_.latest(id, planned_.contains(id));
  if (insight && insight->computed_at != followed.insight_at) {
    followed.insight_at = insight->computed_at;
    if (!send(write, "insight", compact_json(Fields{{"study", id}, {"as_of", insight->as_of}}))) return false;
    wrote_ = now;
  }
  return true;
}

}  // namespace bapi
