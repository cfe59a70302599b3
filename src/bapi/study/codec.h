#pragma once

#include <string>
#include <string_view>

#include "bapi/base/error.h"
#include "bapi/study/event.h"
#include "bapi/study/spec.h"

namespace bapi {

// JSON text of the domain types: what the store keeps and the training programs read. decode(encode(x)) == x for every
// valid x, doubles to the last bit, NaN and infinities as strings. Malformed text throws InvalidInput that quotes what
// was found and says what was expected.

// A text of a format that only later versions of this program know.
class NewerFormat : public InvalidInput {
 public:
  using InvalidInput::InvalidInput;
};

std::string encode(const StudySpec& spec);
StudySpec decode_spec(std::string_view text);

// Events of version 0.1 are read as well: the numbers of its reasons become fields.
std::string encode(const Event& event);
Event decode_event(std::string_view text);

// What an event is called in its JSON: "started", "resumed", "stopped", "finished", "measured", "segment_done",
// "program_ended", "failed", "interrupted", "overhead", "budget_changed", "retried", "settings_changed", "enqueued".
std::string_view kind_of(const Event& event);

// {"loss": 0.3, "recall": "nan"}
std::string encode(const OtherMetrics& metrics);

// A configuration as the training program sees it, {"lr": 0.1, "units": 64}: parameters that apply only.
std::string encode(const Config& config, const Space& space);

}  // namespace bapi
