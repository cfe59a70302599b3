#include "bapi/process/failure_text.h"

#include <fmt/format.h>

namespace bapi {
namespace {

bool is_continuation(unsigned char c) { return (c & 0xC0U) == 0x80U; }

// Length of the UTF-8 character that begins at `at`; 0 if there is none. Overlong forms and surrogates are none.
std::size_t character_length(std::string_view text, std::size_t at) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(i < text.size() ? text[i] : '\0'); };
  const unsigned char first = byte(at);
  const unsigned char second = byte(at + 1);
  if (first < 0x80U) return 1;
  if (first >= 0xC2U && first <= 0xDFU) return is_continuation(second) ? 2 : 0;
  if (first >= 0xE0U && first <= 0xEFU) {
    const bool overlong = first == 0xE0U && second < 0xA0U;
    const bool surrogate = first == 0xEDU && second >= 0xA0U;
    return is_continuation(second) && is_continuation(byte(at + 2)) && !overlong && !surrogate ? 3 : 0;
  }
  if (first >= 0xF0U && first <= 0xF4U) {
    const bool outside = (first == 0xF0U && second < 0x90U) || (first == 0xF4U && second >= 0x90U);
    return is_continuation(second) && is_continuation(byte(at + 2)) && is_continuation(byte(at + 3)) && !outside ? 4
                                                                                                                 : 0;
  }
  return 0;
}

}  // namespace

std::string printable(std::string_view text) {
  std::string result;
  for (std::size_t i = 0; i < text.size();) {
    const std::size_t length = character_length(text, i);
    const auto c = static_cast<unsigned char>(text[i]);
    const bool control = (c < 0x20U && c != '\n' && c != '\t') || c == 0x7FU;
    if (length == 0 || control) {
      result += '?';
      ++i;
    } else {
      result += text.substr(i, length);
      i += length;
    }
  }
  return result;
}

std::string failure_text(std::string_view what, std::string_view last_output) {
  if (last_output.empty()) return printable(what);
  return fmt::format("{}; the end of its output:\n{}", printable(what), printable(last_output));
}

}  // namespace bapi
