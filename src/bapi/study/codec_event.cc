#include <array>

#include "bapi/study/codec.h"
#include "bapi/study/codec_json.h"
#include "bapi/study/rationale.h"
#include "bapi/study/reason_fields.h"

namespace bapi {

template <typename Visitor, Of<TrialStarted> T>
void fields(Visitor& visit, T& event) {
  visit("trial", event.trial);
  visit("config", event.config);
  visit("until", event.until);
  visit("expected_cost", event.expected_cost);
  visit("why", event.why);
  visit.if_set("assignment", event.assignment);
}

template <typename Visitor, Of<TrialResumed> T>
void fields(Visitor& visit, T& event) {
  visit("trial", event.trial);
  visit("until", event.until);
  visit("expected_cost", event.expected_cost);
  visit("why", event.why);
}

template <typename Visitor, Of<TrialStopped> T>
void fields(Visitor& visit, T& event) {
  visit("trial", event.trial);
  visit("why", event.why);
}

template <typename Visitor, Of<StudyFinished> T>
void fields(Visitor& visit, T& event) {
  visit("reason", event.reason);
}

template <typename Visitor, Of<Measured> T>
void fields(Visitor& visit, T& event) {
  visit("trial", event.trial);
  visit("epoch", event.measurement.epoch);
  visit("value", event.measurement.value);
  visit("cost", event.measurement.cost);
  visit.if_set("others", event.others);
}

template <typename Visitor, Of<SegmentDone> T>
void fields(Visitor& visit, T& event) {
  visit("trial", event.trial);
}

template <typename Visitor, Of<ProgramEnded> T>
void fields(Visitor& visit, T& event) {
  visit("trial", event.trial);
}

template <typename Visitor, Of<TrialFailed> T>
void fields(Visitor& visit, T& event) {
  visit("trial", event.trial);
  visit("message", event.message);
  visit.if_set("cause", event.cause);
}

template <typename Visitor, Of<Interrupted> T>
void fields(Visitor& visit, T& event) {
  visit("trial", event.trial);
  visit("reason", event.reason);
}

template <typename Visitor, Of<Overhead> T>
void fields(Visitor& visit, T& event) {
  visit("trial", event.trial);
  visit("of", event.kind);
  visit("epoch", event.epoch);
  visit("cost", event.cost);
}

template <typename Visitor, Of<BudgetChanged> T>
void fields(Visitor& visit, T& event) {
  visit("total", event.total);
}

template <typename Visitor, Of<TrialRetried> T>
void fields(Visitor& visit, T& event) {
  visit("trial", event.trial);
  visit("reason", event.reason);
  visit.if_set("until", event.until);
}

template <typename Visitor, Of<SettingChange> T>
void fields(Visitor& visit, T& change) {
  visit("field", change.field);
  visit("before", change.before);
  visit("after", change.after);
}

template <typename Visitor, Of<SettingsChanged> T>
void fields(Visitor& visit, T& event) {
  visit("changes", event.changes);
}

template <typename Visitor, Of<ConfigEnqueued> T>
void fields(Visitor& visit, T& event) {
  visit("wish", event.wish);
  visit("by", event.by);
  visit.if_set("id", event.id);
}

namespace {

using codec::Json;
using codec::Path;
using codec::Reader;

// In the order of the alternatives of Event.
constexpr std::array<std::string_view, 14> kKinds{"started",
                                                  "resumed",
                                                  "stopped",
                                                  "finished",
                                                  "measured",
                                                  "segment_done",
                                                  "program_ended",
                                                  "failed",
                                                  "interrupted",
                                                  "overhead",
                                                  "budget_changed",
                                                  "retried",
                                                  "settings_changed",
                                                  "enqueued"};
static_assert(kKinds.size() == std::variant_size_v<Event>);

template <typename T>
constexpr bool kHasReason =
    std::is_same_v<T, TrialStarted> || std::is_same_v<T, TrialResumed> || std::is_same_v<T, TrialStopped>;

// Of decisions with a reason 1 is what bapi 0.1 wrote (see Rationale), 2 has the fields of Reason. A measurement is of
// version 2 if it has other metrics. All other events are still as they were. A text of another version is refused,
// never guessed at.
template <typename T>
constexpr int kEventVersion = kHasReason<T> || std::is_same_v<T, Measured> ? 2 : 1;

constexpr int kNewestVersion = 2;

// Reads decisions of version 1.
class FirstReader {
 public:
  explicit FirstReader(Reader& reader) : reader_(reader) {}

  template <typename T>
  void operator()(std::string_view name, T& field) {
    reader_(name, field);
  }

  void operator()(std::string_view name, Reason& reason) {
    Reader why(reader_.take(name), where_);
    why("rule", why_.rule);
    const Json& numbers = why.take("numbers");
    const Path where = why.where("numbers");
    if (!numbers.is_array()) codec::refuse(where, numbers, "a list");
    for (const Json& number : numbers) take_number(number, Path(why_.numbers.size(), &where));
    why.done();
    reason = reason_of(why_);
  }

  // Visited after the reason, in which it was kept.
  void if_set(std::string_view, TrialAssignment& assignment) { assignment = assignment_of(why_); }

 private:
  void take_number(const Json& json, const Path& where) {
    if (!json.is_array() || json.size() != 2) codec::refuse(where, json, "a pair of a name and a number");
    why_.numbers.emplace_back(codec::text_of(json[0], where), codec::number_of(json[1], where));
  }

  Reader& reader_;
  Path where_ = reader_.where("why");
  Rationale why_;
};

template <typename T>
void read_fields(Reader& reader, int version, T& event) {
  if constexpr (kHasReason<T>) {
    if (version == 1) {
      FirstReader first(reader);
      fields(first, event);
      // A trial that continues is the one that was looked at: 0.1 did not say so again.
      Rare<BlockCheck>& check = event.why.check;
      if (check && check->outcome == CheckOutcome::continues) check->trial = event.trial;
      return;
    }
  }
  fields(reader, event);
}

template <std::size_t i = 0>
Event event_of(Reader& reader, std::string_view kind) {
  if constexpr (i < std::variant_size_v<Event>) {
    if (kind != kKinds[i]) return event_of<i + 1>(reader, kind);
    using T = std::variant_alternative_t<i, Event>;
    const Json& version = reader.take("version");
    if (version != kEventVersion<T> && version != 1) {
      codec::refuse(reader.where("version"),
                    version,
                    fmt::format("version {} (is bapi older than this study?)", kEventVersion<T>));
    }
    T event;
    read_fields(reader, version.get<int>(), event);
    return event;
  } else {
    codec::refuse(reader.where("kind"), kind, fmt::format("one of {}", fmt::join(kKinds, ", ")));
  }
}

// Measurements and overheads come in tens of thousands: their text is written without a tree of JSON nodes.
std::string text_of_event(const Measured& fact) {
  return fmt::format(R"({{"kind":"measured","version":{},"trial":{},"epoch":{},"value":{},"cost":{}{}}})",
                     fact.others ? 2 : 1,
                     index(fact.trial),
                     fact.measurement.epoch,
                     codec::number_text(fact.measurement.value),
                     codec::number_text(fact.measurement.cost),
                     fact.others ? ",\"others\":" + codec::json_of(*fact.others).dump() : "");
}

std::string text_of_event(const Overhead& fact) {
  return fmt::format(R"({{"kind":"overhead","version":{},"trial":{},"of":"{}","epoch":{},"cost":{}}})",
                     kEventVersion<Overhead>,
                     index(fact.trial),
                     word(fact.kind),
                     fact.epoch,
                     codec::number_text(fact.cost));
}

}  // namespace

std::string_view kind_of(const Event& event) { return kKinds.at(event.index()); }

std::string encode(const Event& event) {
  return std::visit(
      [&]<typename T>(const T& content) {
        if constexpr (std::is_same_v<T, Measured> || std::is_same_v<T, Overhead>) {
          return text_of_event(content);
        } else {
          Json json = {{"kind", kind_of(event)}, {"version", kEventVersion<T>}};
          codec::Writer writer(json);
          fields(writer, content);
          return json.dump();
        }
      },
      event);
}

Event decode_event(std::string_view text) {
  const Path where("event");
  const Json json = codec::parse(text, where);
  codec::refuse_newer(json, kNewestVersion);
  Reader reader(json, where);
  std::string kind;
  reader("kind", kind);
  Event event = event_of(reader, kind);
  reader.done();
  return event;
}

}  // namespace bapi
