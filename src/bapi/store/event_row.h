#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "bapi/study/event.h"

namespace bapi {

// An event as a row of a table. The columns are what people query, a copy of what is in the payload; where they say it
// all, as of measurements and the ends of segments, which are most of every log, there is no payload.
struct EventRow {
  std::string kind = {};
  std::optional<std::int64_t> trial = {};
  std::optional<std::int64_t> epoch = {};
  std::optional<double> value = {};
  std::optional<Cost> cost = {};
  std::optional<std::string> payload = {};
};

EventRow row_of(const Event& event);

// InvalidInput if the row makes no sense; NewerFormat (study/codec.h) if it is of a newer version.
Event event_of(const EventRow& row);

}  // namespace bapi
