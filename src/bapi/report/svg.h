#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "bapi/base/names.h"

namespace bapi {

// Diagrams as SVG text: axes, lines, points, bands, bars, a legend. Everything is given in data coordinates; what does
// not fit the axes is cut at the frame, and points that are not finite (or not positive on a log axis) are left out.
// Texts that would leave the picture become smaller, then shorter.

enum class AxisScale { linear, log };
enum class Ticks { any, whole };  // whole: integers only, for epochs and trial numbers

struct Tick {
  double value = 0.0;
  std::string label;
};

struct Axis {
  std::string label = {};
  double low = 0.0;
  double high = 1.0;
  AxisScale scale = AxisScale::linear;
  Ticks ticks = Ticks::any;
  std::vector<Tick> named = {};  // instead of round numbers
};

// About `count` round numbers within the axis, in increasing order, all written with the same number of decimals.
// Never fewer than one as long as low < high.
std::vector<Tick> ticks_of(const Axis& axis, int count);

// An axis that shows all finite `values` with a little air; widened around a single value, [0, 1] without any.
Axis axis_over(std::span<const double> values, const std::string& label);

// Whether a linear axis would squeeze most of what lies between these values into its beginning.
bool spans_decades(double low, double high);

struct Point {
  double x = 0.0;
  double y = 0.0;
};

struct Stroke {
  std::string color = "#000000";
  double width = 1.5;     // pixels
  double opacity = 1.0;   // 0..1
  std::string dash = {};  // SVG dash array, "4 3"; empty for a solid line
};

enum class Marker { disc, ring, cross };
enum class Anchor { start, middle, end };
template <>
inline constexpr auto names<Anchor> =
    NameTable{Name{Anchor::start, "start"}, Name{Anchor::middle, "middle"}, Name{Anchor::end, "end"}};
enum class Side { above, below };

struct LegendEntry {
  enum class Swatch { line, square, disc, cross };
  std::string label;
  std::string color;
  Swatch swatch = Swatch::line;
};

// Size in pixels, and colours: any that SVG takes.
struct FigureStyle {
  double width = 800.0;
  double height = 460.0;
  std::string ink = "#222222";
  std::string muted = "#666666";
  std::string grid = "#e6e6e6";
  std::string paper = "#ffffff";

  // For a figure inside a page that sets the custom properties --ink, --muted, --grid and --paper, so that it follows
  // the page into the dark.
  static FigureStyle of_page(double width, double height);

  // The same colours as such a page has by day, for a file of its own.
  static FigureStyle of_file(double width, double height);
};

class Figure {
 public:
  // Without title and subtitle no room is left for them.
  Figure(std::string title,
         std::string subtitle,
         Axis x,
         Axis y,
         std::vector<LegendEntry> legend = {},
         FigureStyle style = {});

  void line(std::span<const Point> points, const Stroke& stroke);
  void marker(Point at, Marker marker, double radius, const std::string& color, double opacity = 1.0);
  // Between two lines over the same x.
  void band(std::span<const Point> upper, std::span<const Point> lower, const std::string& color, double opacity);
  void bar(Point corner, Point opposite, const std::string& color);
  // Beside the point, moved as far as it takes to stay inside the frame.
  void text(Point at, Anchor anchor, Side side, const std::string& text, const std::string& color);
  void message(const std::string& text);  // in the middle of the frame, instead of data

  // Pixels per unit of x, for things whose width on the screen matters. Linear axes only.
  double pixels_per_x() const;

  std::string svg() const;

 private:
  double px(double x) const;
  double py(double y) const;
  bool drawable(Point point) const;
  std::string coordinates(Point point) const;
  std::string axes() const;
  std::string legend() const;

  std::string title_;
  std::string subtitle_;
  Axis x_;
  Axis y_;
  std::vector<LegendEntry> legend_;
  FigureStyle style_;
  double right_ = 0.0;
  double bottom_ = 0.0;
  std::vector<Tick> x_ticks_;
  std::vector<Tick> y_ticks_;
  double left_ = 0.0;
  double top_ = 0.0;
  std::string body_;   // inside the frame, clipped
  std::string above_;  // texts, not clipped
};

// Text for an SVG or XML file: markup characters escaped, bytes that XML does not allow replaced.
std::string xml_escaped(std::string_view text);

}  // namespace bapi
