#include "bapi/cli/screen_lines.h"

#include <fmt/format.h>

#include <algorithm>

#include "bapi/cli/live_lines.h"
#include "bapi/cli/terminal.h"

namespace bapi {

ScreenLines::ScreenLines() { write_error("\x1b[?25l"); }

ScreenLines::~ScreenLines() {
  draw({}, terminal_size().columns);
  write_error("\x1b[?25h");
}

void ScreenLines::draw(const std::vector<std::string>& lines, std::size_t columns) {
  std::size_t rows = 0;
  for (const std::size_t width : drawn_) rows += std::max<std::size_t>(1, (width + columns - 1) / columns);
  std::string frame = "\x1b[?2026h\r";
  if (rows > 0) frame += fmt::format("\x1b[{}A", rows);
  if (columns != columns_) frame += "\x1b[J";  // wrapped lines would be joined again by the next resize
  columns_ = columns;
  drawn_.clear();
  for (const std::string& line : lines) {
    frame += line + "\x1b[K\n";
    drawn_.push_back(visible_width(line));
  }
  frame += "\x1b[J\x1b[?2026l";
  write_error(frame);
}

}  // namespace bapi
