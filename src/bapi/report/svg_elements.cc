#include "bapi/report/svg_elements.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "bapi/base/utf8.h"

namespace bapi {
namespace {

// At most `width` columns of `text`, cut inside, so that beginning and end stay.
std::string clipped_inside(std::string_view text, std::size_t width) {
  if (display_width(text) <= width) return std::string(text);
  std::string end;
  for (std::size_t at = text.size(); at > 0 && display_width(end) < width / 2;) {
    do {
      --at;
    } while (at > 0 && code_point_length(text, at) == 0);
    end = text.substr(at);
  }
  return clipped(text, width - display_width(end)) + end;
}

}  // namespace

std::string text_element(
    double x, double y, Anchor anchor, double size, std::string_view color, std::string_view text) {
  return fmt::format(R"(<text x="{:.1f}" y="{:.1f}" text-anchor="{}" font-size="{}" fill="{}">{}</text>)"
                     "\n",
                     x,
                     y,
                     word(anchor),
                     size,
                     color,
                     xml_escaped(text));
}

// Average width of a character, as a share of the font size.
double text_width(std::string_view text, double font_size) {
  constexpr double kPerCharacter = 0.56;
  return kPerCharacter * font_size * static_cast<double>(display_width(text));
}

FittedText fitted_text(std::string_view text, double font_size, double room) {
  constexpr double kSmallest = 0.75;
  const double width = text_width(text, font_size);
  if (width <= room) return {std::string(text), font_size};
  const double size = font_size * std::max(kSmallest, room / width);
  if (text_width(text, size) <= room * (1.0 + 1e-9)) return {std::string(text), std::floor(10.0 * size) / 10.0};
  const auto characters = static_cast<std::size_t>(std::max(1.0, std::floor(room / text_width("x", size))));
  constexpr std::size_t kLong = 24;
  return {characters < kLong ? clipped(text, characters) : clipped_inside(text, characters), size};
}

std::string fitted_element(
    double x, double y, Anchor anchor, double size, double room, std::string_view color, std::string_view text) {
  const FittedText fitted = fitted_text(text, size, room);
  return fmt::format(R"(<text x="{:.1f}" y="{:.1f}" text-anchor="{}" font-size="{}" fill="{}">{}{}</text>)"
                     "\n",
                     x,
                     y,
                     word(anchor),
                     fitted.size,
                     color,
                     xml_escaped(fitted.text),
                     fitted.text == text ? "" : fmt::format("<title>{}</title>", xml_escaped(text)));
}

std::string title_element(double x, double room, std::string_view color, std::string_view title) {
  constexpr double kBold = 1.08;  // width of bold letters, as a multiple of others
  const FittedText fitted = fitted_text(title, 17.0, room / kBold);
  return fmt::format(R"(<text x="{:.1f}" y="30" font-size="{}" font-weight="600" fill="{}">{}</text>)"
                     "\n",
                     x,
                     fitted.size,
                     color,
                     xml_escaped(fitted.text));
}

std::string line_element(double x1, double y1, double x2, double y2, std::string_view color, double width) {
  return fmt::format(R"(<line x1="{:.1f}" y1="{:.1f}" x2="{:.1f}" y2="{:.1f}" stroke="{}" stroke-width="{}"/>)"
                     "\n",
                     x1,
                     y1,
                     x2,
                     y2,
                     color,
                     width);
}

}  // namespace bapi
