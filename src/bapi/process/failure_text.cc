#include "bapi/process/failure_text.h"

#include <fmt/format.h>

#include <algorithm>

#include "bapi/base/utf8.h"

namespace bapi {
namespace {

constexpr std::string_view kOutputFollows = "; the end of its output:";

// Where the sequence ends that begins with the escape character at `i`: a title or a link up to its terminator, else a
// colour, a movement or a character set up to its last character.
std::size_t escape_end(std::string_view text, std::size_t i) {
  constexpr std::string_view kIntermediate = " !\"#$%&'()*+,-./";
  constexpr std::string_view kParameters = " !\"#$%&'()*+,-./0123456789:;<=>?";
  const char kind = i + 1 < text.size() ? text[i + 1] : '\0';
  if (kind == ']') {
    const std::size_t last = text.find_first_of("\a\x1B\n", i + 2);
    if (last == std::string_view::npos) return text.size();
    return text[last] == '\x1B' ? std::min(last + 2, text.size()) : last + 1;
  }
  const std::size_t last =
      kind == '[' ? text.find_first_not_of(kParameters, i + 2) : text.find_first_not_of(kIntermediate, i + 1);
  if (last == std::string_view::npos) return text.size();
  return text[last] >= '0' ? last + 1 : last;
}

// What a terminal would show of it, in one colour.
std::string without_escapes(std::string_view text) {
  constexpr char kEscape = '\x1B';
  std::string out;
  for (std::size_t i = 0; i < text.size();) {
    const std::size_t escape = std::min(text.find(kEscape, i), text.size());
    out += text.substr(i, escape - i);
    i = escape < text.size() ? escape_end(text, escape) : escape;
  }
  return out;
}

}  // namespace

std::string failure_text(std::string_view what, std::string_view last_output) {
  if (last_output.empty()) return printable(what);
  return fmt::format("{}{}\n{}", printable(what), kOutputFollows, printable(without_escapes(last_output)));
}

std::string failure_headline(std::string_view text) {
  std::string_view line = text.substr(0, text.find('\n'));
  if (line.ends_with(kOutputFollows)) line.remove_suffix(kOutputFollows.size());
  return std::string(line);
}

}  // namespace bapi
