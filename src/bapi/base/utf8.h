#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace bapi {

// Text from outside: training programs print what they like, but JSON, XML and terminals take well-formed UTF-8 only.

// Bytes of the well-formed code point that begins at `at`; 0 if there is none (RFC 3629: no overlong forms, no
// surrogates, nothing above U+10FFFF).
std::size_t code_point_length(std::string_view text, std::size_t at);

bool is_utf8(std::string_view text);

// Columns that `text` takes on a terminal: code points, all of them one column wide.
std::size_t display_width(std::string_view text);

// At most `width` columns of `text`; a cut is marked with "…".
std::string clipped(std::string_view text, std::size_t width);

// `text` with every byte that is not part of a code point replaced by U+FFFD.
std::string well_formed(std::string_view text);

// `text` with '?' for every byte that is not part of a code point and for every control character except line breaks
// and tabs.
std::string printable(std::string_view text);

// Well-formed text that a terminal shows and does not obey: control characters except line breaks and tabs as \x1b.
std::string visible(std::string_view text);

// The same on one line: line breaks as \n, tabs as \t.
std::string visible_line(std::string_view text);

}  // namespace bapi
