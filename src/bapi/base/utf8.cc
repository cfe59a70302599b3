#include "bapi/base/utf8.h"

#include <fmt/format.h>

#include <algorithm>

namespace bapi {
namespace {

bool continues(char c) { return (static_cast<unsigned char>(c) & 0xC0) == 0x80; }

// A code point of one of the two sets. Many terminals obey the second as well: U+009B begins a sequence as ESC [ does.
bool is_control(std::string_view point) {
  if (point.size() == 2) return point[0] == '\xC2' && point[1] < '\xA0';
  return point.size() == 1 && (static_cast<unsigned char>(point[0]) < 0x20 || point[0] == 0x7F);
}

// `text` code point by code point: control characters through `control`, bytes that are none become `broken`.
template <typename Control>
std::string rewritten(std::string_view text, std::string_view broken, Control control) {
  std::string out;
  out.reserve(text.size());
  for (std::size_t i = 0; i < text.size();) {
    const std::size_t length = code_point_length(text, i);
    if (length == 0) {
      out += broken;
    } else {
      const std::string_view point = text.substr(i, length);
      out += is_control(point) ? control(point) : std::string(point);
    }
    i += std::max<std::size_t>(length, 1);
  }
  return out;
}

constexpr std::string_view kReplacement = "\xEF\xBF\xBD";

std::string escaped(std::string_view control) {
  switch (control.back()) {
    case '\n':
      return "\\n";
    case '\t':
      return "\\t";
    case '\r':
      return "\\r";
    default:
      return fmt::format("\\x{:02x}", static_cast<unsigned char>(control.back()));
  }
}

bool is_layout(std::string_view control) { return control == "\n" || control == "\t"; }

}  // namespace

std::size_t code_point_length(std::string_view text, std::size_t at) {
  const auto byte = [&](std::size_t i) { return at + i < text.size() ? static_cast<unsigned char>(text[at + i]) : 0U; };
  const unsigned first = byte(0);
  if (first < 0x80) return 1;
  std::size_t length = 0;
  unsigned low = 0x80;
  unsigned high = 0xBF;
  if (first >= 0xC2 && first <= 0xDF) length = 2;
  if (first >= 0xE0 && first <= 0xEF) length = 3;
  if (first >= 0xF0 && first <= 0xF4) length = 4;
  if (first == 0xE0) low = 0xA0;
  if (first == 0xED) high = 0x9F;
  if (first == 0xF0) low = 0x90;
  if (first == 0xF4) high = 0x8F;
  if (length == 0 || byte(1) < low || byte(1) > high) return 0;
  for (std::size_t i = 2; i < length; ++i) {
    if (byte(i) < 0x80 || byte(i) > 0xBF) return 0;
  }
  return length;
}

bool is_utf8(std::string_view text) {
  for (std::size_t i = 0; i < text.size();) {
    const std::size_t length = code_point_length(text, i);
    if (length == 0) return false;
    i += length;
  }
  return true;
}

std::size_t display_width(std::string_view text) {
  // Every byte that does not continue a code point begins one.
  return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), [](char c) { return !continues(c); }));
}

std::string clipped(std::string_view text, std::size_t width) {
  if (display_width(text) <= width) return std::string(text);
  if (width == 0) return "";
  std::size_t end = 0;
  for (std::size_t kept = 0; kept + 1 < width; ++kept) {
    do {
      ++end;
    } while (end < text.size() && continues(text[end]));
  }
  return std::string(text.substr(0, end)) + "…";
}

std::string well_formed(std::string_view text) {
  return rewritten(text, kReplacement, [](std::string_view control) { return std::string(control); });
}

std::string printable(std::string_view text) {
  return rewritten(text, "?", [](std::string_view control) { return is_layout(control) ? std::string(control) : "?"; });
}

std::string visible(std::string_view text) {
  return rewritten(text, kReplacement, [](std::string_view control) {
    return is_layout(control) ? std::string(control) : escaped(control);
  });
}

std::string visible_line(std::string_view text) { return rewritten(text, kReplacement, escaped); }

}  // namespace bapi
