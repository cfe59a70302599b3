#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace bapi {

// Lines at the end of standard error that are drawn again and again in the same place.
class ScreenLines {
 public:
  ScreenLines();   // hides the cursor
  ~ScreenLines();  // clears the lines and gives the cursor back
  ScreenLines(const ScreenLines&) = delete;
  ScreenLines& operator=(const ScreenLines&) = delete;

  // One write per frame; every line is overwritten and its rest erased, never the whole screen. After a resize the
  // terminal has wrapped the old lines anew, so the way back to the first of them is counted with the new width.
  void draw(const std::vector<std::string>& lines, std::size_t columns);

 private:
  std::vector<std::size_t> drawn_;  // widths of the lines on the screen
  std::size_t columns_ = 0;         // of the terminal when they were drawn
};

}  // namespace bapi
