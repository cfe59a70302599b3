#include <string>
#include <vector>

#include "bapi/base/error.h"
#include "bapi/base/number.h"
#include "bapi/base/split.h"
#include "bapi/study/codec.h"
#include "bapi/study/scalar.h"
#include "bapi/study/spec_file.h"
#include "fuzz/targets.h"

namespace bapi::fuzz {

void read_study_file(std::string_view input) {
  const StudySpec spec = parse_study_file(input, "study.yaml");
  check(decode_spec(encode(spec)) == spec, "a study file does not survive the store");
}

// One argument per line.
void read_inline_command(std::string_view input) { parse_inline_command(split(std::string(input), '\n')); }

void read_quantity(std::string_view input) {
  const auto tolerated = [](auto read) {
    try {
      read();
    } catch (const InvalidInput&) {
    }
  };
  const std::string text(input);
  tolerated([&] { parse_duration(text, "here"); });
  tolerated([&] { parse_budget(text, "here"); });
  tolerated([&] { parse_number(text, "here"); });
  tolerated([&] { parse_whole_number(text, 1, 1000, "here"); });
  to_text(parse_scalar(text));
}

// NaN is not equal to itself, so texts are compared.
void read_spec_json(std::string_view input) {
  const std::string text = encode(decode_spec(input));
  check(encode(decode_spec(text)) == text, "a specification does not survive the store");
}

void read_event_json(std::string_view input) {
  const std::string text = encode(decode_event(input));
  check(encode(decode_event(text)) == text, "an event does not survive the store");
}

}  // namespace bapi::fuzz
