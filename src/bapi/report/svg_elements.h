#pragma once

#include <string>
#include <string_view>

#include "bapi/report/svg.h"

namespace bapi {

// Single elements of an SVG text, in pixels.

std::string text_element(double x, double y, Anchor anchor, double size, std::string_view color, std::string_view text);

// About the width of a text in a sans-serif face.
double text_width(std::string_view text, double font_size);

// A text that stays within `room` pixels: smaller by up to a quarter, and if that does not do, cut with "…", a long one
// inside: the end of a title or label says what is shown.
struct FittedText {
  std::string text;
  double size = 0.0;
};
FittedText fitted_text(std::string_view text, double font_size, double room);

// The same as an element; what was cut is told by a <title>, which viewers show when they are pointed at it.
std::string fitted_element(
    double x, double y, Anchor anchor, double size, double room, std::string_view color, std::string_view text);

// The name of a picture, above everything else.
std::string title_element(double x, double room, std::string_view color, std::string_view title);

std::string line_element(double x1, double y1, double x2, double y2, std::string_view color, double width);

}  // namespace bapi
