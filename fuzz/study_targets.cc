#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "bapi/base/error.h"
#include "bapi/base/number.h"
#include "bapi/base/split.h"
#include "bapi/base/utf8.h"
#include "bapi/store/event_row.h"
#include "bapi/studies/new_study_file.h"
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

// A row of the log: kind, trial, epoch, value and cost on a line each, empty for none, then the payload.
void read_event_row(std::string_view input) {
  std::vector<std::string> lines = split(std::string(input), '\n');
  lines.resize(std::max<std::size_t>(lines.size(), 6));
  const auto number = [](const std::string& text) {
    return text.empty() ? std::nullopt : std::optional(parse_number(text, "here"));
  };
  const auto whole = [](const std::string& text) {
    return text.empty() ? std::nullopt : std::optional(parse_whole_number(text, INT64_MIN, INT64_MAX, "here"));
  };
  EventRow row{.kind = lines[0],
               .trial = whole(lines[1]),
               .epoch = whole(lines[2]),
               .value = number(lines[3]),
               .cost = number(lines[4])};
  if (!lines[5].empty()) row.payload = lines[5];
  const Event event = event_of(row);
  check(encode(event_of(row_of(event))) == encode(event), "an event does not survive a table");
}

void read_sweep(std::string_view input) {
  std::vector<std::string> notes;
  const std::string text = study_file_of_sweep(input, "sweep.yaml", notes);
  parse_study_file(text, "study.yaml");
}

// What a terminal, a page or a table shows of bytes from outside.
void show_text(std::string_view input) {
  const auto is_control = [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; };
  const std::string line = visible_line(input);
  check(is_utf8(line) && std::none_of(line.begin(), line.end(), is_control), "a line is not fit for a terminal");
  for (const std::string& text : {well_formed(input), printable(input), visible(input)}) {
    check(is_utf8(text), "a text is not well-formed");
  }
  for (const std::size_t width : {0U, 1U, 7U}) {
    check(display_width(clipped(well_formed(input), width)) <= width, "a text is too wide");
  }
}

}  // namespace bapi::fuzz
