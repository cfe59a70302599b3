#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace bapi {

struct TerminalSize {
  std::size_t columns = 80;
  std::size_t rows = 24;
};

// What help and listings for people are wrapped to, whatever the terminal.
inline constexpr std::size_t kScreenColumns = 80;

enum class Color { off, on };
enum class Glyphs { ascii, unicode };

// What can be shown on standard error.
struct TerminalStyle {
  Color color = Color::off;
  Glyphs glyphs = Glyphs::unicode;
};

// Whether standard error is a terminal on which lines can be drawn again.
bool can_redraw();
TerminalSize terminal_size();

// Color unless NO_COLOR is set or the output is not a terminal; unicode if the locale says so.
TerminalStyle terminal_style();

// Block characters, dots, ellipses and ± replaced by ASCII, everything else outside of it by question marks.
std::string in_ascii(std::string_view text);

// Writes `text` to standard error. If its reader does not take it within a second, the text is dropped.
void write_error(std::string_view text);

}  // namespace bapi
