#include "bapi/store/log_writer.h"

#include <fmt/format.h>

namespace bapi {

LogWriter::LogWriter(Store& store, History history, EventSeq last)
    : store_(store), history_(std::move(history)), last_(last) {}

void LogWriter::record(std::span<const Event> facts, double at) { append(facts, at, Durability::process); }

void LogWriter::record_for_good(std::span<const Event> facts, double at) { append(facts, at, Durability::power); }

void LogWriter::append(std::span<const Event> facts, double at, Durability durability) {
  if (facts.empty()) return;
  if (const auto objection = history_.objection(facts)) {
    throw LogicError("a fact that cannot follow was refused, nothing is written: " + *objection);
  }
  if (!store_.append(last_, facts, at, durability)) throw store_.competition();
  for (const Event& fact : facts) take(fact, at);
}

void LogWriter::decide(const Event& decision, double at, std::string_view by) {
  require_lawful(decision, by);
  if (!store_.append_decision(last_, decision, at)) throw store_.competition();
  take(decision, at);
}

void LogWriter::require_lawful(const Event& decision, std::string_view by) const {
  if (const auto objection = history_.objection(decision)) {
    throw LogicError(
        fmt::format("a decision of {} that cannot follow was refused, nothing is written: {}", by, *objection));
  }
}

// Of an event that is in the log.
void LogWriter::take(const Event& event, double at) {
  history_.apply(event);
  ++last_;
  if (listener_) listener_({.seq = last_, .at = at, .event = event});
}

}  // namespace bapi
