#include "bapi/store/event_row.h"

#include <fmt/format.h>

#include <cmath>
#include <limits>

#include "bapi/base/error.h"
#include "bapi/base/match.h"
#include "bapi/study/codec.h"

namespace bapi {
namespace {

EventRow columns_of(const Event& event) {
  return std::visit(
      Match{[](const TrialStarted& e) { return EventRow{.trial = index(e.trial), .epoch = e.until}; },
            [](const TrialResumed& e) { return EventRow{.trial = index(e.trial), .epoch = e.until}; },
            [](const StudyFinished&) { return EventRow{}; },
            [](const Measured& e) {
              return EventRow{.trial = index(e.trial),
                              .epoch = e.measurement.epoch,
                              .value = e.measurement.value,
                              .cost = e.measurement.cost};
            },
            [](const Overhead& e) { return EventRow{.trial = index(e.trial), .epoch = e.epoch, .cost = e.cost}; },
            [](const BudgetChanged& e) { return EventRow{.value = e.total}; },
            [](const SettingsChanged&) { return EventRow{}; },
            [](const ConfigEnqueued&) { return EventRow{}; },
            [](const auto& e) { return EventRow{.trial = index(e.trial)}; }},
      event);
}

// SQLite turns NaN into NULL and may turn -0.0 into 0.
bool column_keeps(double number) { return std::isfinite(number) && !(number == 0.0 && std::signbit(number)); }

bool columns_say_it_all(const Event& event) {
  return std::visit(Match{[](const Measured& e) {
                            return !e.others && column_keeps(e.measurement.value) && column_keeps(e.measurement.cost);
                          },
                          [](const SegmentDone&) { return true; },
                          [](const ProgramEnded&) { return true; },
                          [](const auto&) { return false; }},
                    event);
}

}  // namespace

EventRow row_of(const Event& event) {
  EventRow row = columns_of(event);
  row.kind = kind_of(event);
  if (!columns_say_it_all(event)) row.payload = encode(event);
  return row;
}

// A column that is NULL where it should not be reads as 0, as it does in SQLite.
Event event_of(const EventRow& row) {
  if (row.payload) return decode_event(*row.payload);
  const TrialId trial{row.trial.value_or(0)};
  if (row.kind == "measured") {
    const std::int64_t epoch = row.epoch.value_or(0);
    require(epoch >= 1 && epoch <= std::numeric_limits<Epoch>::max(), fmt::format("epoch {} is impossible", epoch));
    return Measured{
        .trial = trial,
        .measurement = {
            .epoch = static_cast<Epoch>(epoch), .value = row.value.value_or(0.0), .cost = row.cost.value_or(0.0)}};
  }
  if (row.kind == "segment_done") return SegmentDone{.trial = trial};
  if (row.kind == "program_ended") return ProgramEnded{.trial = trial};
  throw InvalidInput("it has no payload");
}

}  // namespace bapi
