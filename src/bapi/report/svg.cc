#include "bapi/report/svg.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "bapi/base/error.h"
#include "bapi/report/svg_elements.h"
#include "bapi/report/text.h"

namespace bapi {

namespace {

constexpr double kLegendLine = 18.0;

// Room for about this many pixels from one label of an axis to the next.
constexpr double kPixelsPerTick = 90.0;
constexpr double kTickGap = 4.0;  // between the names of neighbours

// 1, 2 or 5 times a power of ten, at least `rough`.
double round_step(double rough) {
  const double power = std::pow(10.0, std::floor(std::log10(rough)));
  for (const double factor : {1.0, 2.0, 5.0}) {
    if (factor * power >= rough * (1.0 - 1e-9)) return factor * power;
  }
  return 10.0 * power;
}

// Decimals that show every multiple of `step`.
int decimals_of(double step) { return std::clamp(static_cast<int>(std::ceil(-std::log10(step) - 1e-9)), 0, 12); }

std::string tick_label(double value, double step) {
  const double size = std::max(std::abs(value), step);
  if (value != 0.0 && (size >= 1e6 || step < 1e-5)) return fmt::format("{:.6g}", value);
  return fmt::format("{:.{}f}", value == 0.0 ? 0.0 : value, decimals_of(step));
}

std::vector<Tick> linear_ticks(const Axis& axis, int count) {
  double step = round_step((axis.high - axis.low) / std::max(1, count));
  if (axis.ticks == Ticks::whole) step = std::max(1.0, step);
  std::vector<Tick> ticks;
  const double first = std::ceil(axis.low / step - 1e-9);
  for (double i = first; i * step <= axis.high + 1e-9 * step; i += 1.0) {
    ticks.push_back({i * step, tick_label(i * step, step)});
    if (i + 1.0 == i) break;  // the step is below the resolution of a double here
  }
  if (ticks.empty()) ticks.push_back({axis.low, tick_label(axis.low, axis.high - axis.low)});
  return ticks;
}

std::string log_label(double value) {
  const double size = std::abs(std::log10(value));
  return size < 3.5 ? fmt::format("{:g}", value) : fmt::format("{:.0e}", value);
}

// Powers of ten, thinned if there are many; with 2 and 5 between them if there are few. An axis without any of these
// falls back to round numbers.
std::vector<Tick> log_ticks(const Axis& axis, int count) {
  const int first = static_cast<int>(std::ceil(std::log10(axis.low) - 1e-9));
  const int last = static_cast<int>(std::floor(std::log10(axis.high) + 1e-9));
  const int every = std::max(1, (last - first + count) / std::max(1, count));
  const double edge = 1.0 + 1e-9;
  std::vector<Tick> ticks;
  for (int power = first - 1; power <= last; ++power) {
    for (const double factor : {1.0, 2.0, 5.0}) {
      if (factor != 1.0 && last - first >= 3) continue;
      if (factor == 1.0 && (power - first) % every != 0) continue;
      const double value = factor * std::pow(10.0, power);
      if (value * edge >= axis.low && value <= axis.high * edge) ticks.push_back({value, log_label(value)});
    }
  }
  if (ticks.size() >= 2) return ticks;
  return linear_ticks({.label = axis.label, .low = axis.low, .high = axis.high}, count);
}

// Where on the axis a value stands: 0 at its low end, 1 at its high end.
double share_of(const Axis& axis, double value) {
  if (axis.scale == AxisScale::log) return std::log(value / axis.low) / std::log(axis.high / axis.low);
  return (value - axis.low) / (axis.high - axis.low);
}

bool has_place_on(const Axis& axis, double value) {
  return std::isfinite(value) && (axis.scale == AxisScale::linear || value > 0.0);
}

std::string cross_element(double x, double y, double r, std::string_view color, double opacity) {
  return fmt::format(
      R"(<path d="M{:.1f} {:.1f}L{:.1f} {:.1f}M{:.1f} {:.1f}L{:.1f} {:.1f}" stroke="{}" stroke-width="1.8")"
      R"( stroke-opacity="{:.2f}" fill="none"/>)"
      "\n",
      x - r,
      y - r,
      x + r,
      y + r,
      x - r,
      y + r,
      x + r,
      y - r,
      color,
      opacity);
}

std::string disc_element(double x, double y, double r, std::string_view color, double opacity) {
  return fmt::format(R"(<circle cx="{:.1f}" cy="{:.1f}" r="{:.1f}" fill="{}" fill-opacity="{:.2f}"/>)"
                     "\n",
                     x,
                     y,
                     r,
                     color,
                     opacity);
}

constexpr double kSwatch = 24.0;  // width of a legend's sign

double entry_width(const LegendEntry& entry, double room) {
  return kSwatch + std::min(text_width(entry.label, 12.0), room - kSwatch) + 18.0;
}

// Where each entry goes, from the left edge and from the first line.
std::vector<Point> legend_places(const std::vector<LegendEntry>& entries, double left, double right) {
  std::vector<Point> places;
  Point next{left, 0.0};
  for (const LegendEntry& entry : entries) {
    const double width = entry_width(entry, right - left);
    if (next.x > left && next.x + width > right) next = {left, next.y + kLegendLine};
    places.push_back(next);
    next.x += width;
  }
  return places;
}

}  // namespace

std::vector<Tick> ticks_of(const Axis& axis, int count) {
  check(axis.low < axis.high, "ticks_of: an axis needs low < high");
  if (!axis.named.empty()) return axis.named;
  return axis.scale == AxisScale::log ? log_ticks(axis, count) : linear_ticks(axis, count);
}

Axis axis_over(std::span<const double> values, const std::string& label) {
  double low = std::numeric_limits<double>::infinity();
  double high = -low;
  for (const double value : values) {
    if (!std::isfinite(value)) continue;
    low = std::min(low, value);
    high = std::max(high, value);
  }
  if (low > high) return {.label = label};
  double air = 0.04 * (high - low);
  // Values that a double can hardly tell apart are one value.
  if (high - low <= 1e-9 * std::max(std::abs(low), std::abs(high))) air = low == 0.0 ? 0.5 : 0.1 * std::abs(low);
  constexpr double kLargest = 1e300;  // leaves room for differences
  return {.label = label, .low = std::max(low - air, -kLargest), .high = std::min(high + air, kLargest)};
}

bool spans_decades(double low, double high) { return low > 0.0 && high / low > 50.0; }

FigureStyle FigureStyle::of_page(double width, double height) {
  return {.width = width,
          .height = height,
          .ink = "var(--ink)",
          .muted = "var(--muted)",
          .grid = "var(--grid)",
          .paper = "var(--paper)"};
}

FigureStyle FigureStyle::of_file(double width, double height) {
  return {
      .width = width, .height = height, .ink = "#1c1c1e", .muted = "#636366", .grid = "#e3e3e6", .paper = "#ffffff"};
}

Figure::Figure(
    std::string title, std::string subtitle, Axis x, Axis y, std::vector<LegendEntry> legend, FigureStyle style)
    : title_(std::move(title)),
      subtitle_(std::move(subtitle)),
      x_(std::move(x)),
      y_(std::move(y)),
      legend_(std::move(legend)),
      style_(std::move(style)),
      right_(style_.width - 28.0),
      bottom_(style_.height - 56.0),
      x_ticks_(ticks_of(x_, static_cast<int>(style_.width / kPixelsPerTick))),
      y_ticks_(ticks_of(y_, 6)) {
  double widest = 0.0;
  for (const Tick& tick : y_ticks_) widest = std::max(widest, text_width(tick.label, 12.0));
  left_ = std::min(48.0 + widest, 0.4 * style_.width);
  top_ = title_.empty() && subtitle_.empty() ? 12.0 : 66.0;
  if (!legend_.empty()) top_ += 6.0 + kLegendLine + legend_places(legend_, left_, right_).back().y;
}

double Figure::px(double x) const {
  // Far outside the frame the exact place does not matter, but SVG viewers choke on huge coordinates.
  return left_ + std::clamp(share_of(x_, x), -10.0, 10.0) * (right_ - left_);
}

double Figure::py(double y) const { return bottom_ - std::clamp(share_of(y_, y), -10.0, 10.0) * (bottom_ - top_); }

double Figure::pixels_per_x() const { return (right_ - left_) / (x_.high - x_.low); }

bool Figure::drawable(Point point) const { return has_place_on(x_, point.x) && has_place_on(y_, point.y); }

std::string Figure::coordinates(Point point) const { return fmt::format("{:.1f},{:.1f}", px(point.x), py(point.y)); }

void Figure::line(std::span<const Point> points, const Stroke& stroke) {
  std::string list;
  for (const Point& point : points) {
    if (drawable(point)) list += fmt::format("{}{}", list.empty() ? "" : " ", coordinates(point));
  }
  if (list.empty()) return;
  body_ += fmt::format(R"(<polyline points="{}" fill="none" stroke="{}" stroke-width="{}" stroke-opacity="{:.2f}")"
                       R"( stroke-linejoin="round" stroke-linecap="round"{}/>)"
                       "\n",
                       list,
                       stroke.color,
                       stroke.width,
                       stroke.opacity,
                       stroke.dash.empty() ? "" : fmt::format(R"( stroke-dasharray="{}")", stroke.dash));
}

void Figure::marker(Point at, Marker marker, double radius, const std::string& color, double opacity) {
  if (!drawable(at)) return;
  switch (marker) {
    case Marker::disc:
      body_ += disc_element(px(at.x), py(at.y), radius, color, opacity);
      return;
    case Marker::ring:
      body_ += fmt::format(R"(<circle cx="{:.1f}" cy="{:.1f}" r="{:.1f}" fill="{}" stroke="{}" stroke-width="2"/>)"
                           "\n",
                           px(at.x),
                           py(at.y),
                           radius,
                           style_.paper,
                           color);
      return;
    case Marker::cross:
      body_ += cross_element(px(at.x), py(at.y), radius, color, opacity);
      return;
  }
}

void Figure::band(std::span<const Point> upper,
                  std::span<const Point> lower,
                  const std::string& color,
                  double opacity) {
  std::string list;
  for (const Point& point : upper) {
    if (drawable(point)) list += coordinates(point) + " ";
  }
  for (auto point = lower.rbegin(); point != lower.rend(); ++point) {
    if (drawable(*point)) list += coordinates(*point) + " ";
  }
  if (list.empty()) return;
  list.pop_back();
  body_ += fmt::format(R"(<polygon points="{}" fill="{}" fill-opacity="{:.2f}"/>)"
                       "\n",
                       list,
                       color,
                       opacity);
}

void Figure::bar(Point corner, Point opposite, const std::string& color) {
  if (!drawable(corner) || !drawable(opposite)) return;
  const double left = std::min(px(corner.x), px(opposite.x));
  const double top = std::min(py(corner.y), py(opposite.y));
  body_ += fmt::format(R"(<rect x="{:.2f}" y="{:.2f}" width="{:.2f}" height="{:.2f}" fill="{}"/>)"
                       "\n",
                       left,
                       top,
                       std::abs(px(opposite.x) - px(corner.x)),
                       std::abs(py(opposite.y) - py(corner.y)),
                       color);
}

void Figure::text(Point at, Anchor anchor, Side side, const std::string& text, const std::string& color) {
  if (!drawable(at)) return;
  const FittedText fitted = fitted_text(text, 12.0, right_ - left_);
  const double width = text_width(fitted.text, fitted.size);
  const double before = anchor == Anchor::start ? 0.0 : anchor == Anchor::middle ? 0.5 * width : width;
  const double lowest = left_ + before;
  const double x = std::clamp(px(at.x), lowest, std::max(lowest, right_ - (width - before)));
  const double shift = side == Side::above ? -9.0 : 18.0;
  const double y = std::clamp(py(at.y) + shift, top_ + 12.0, bottom_ - 4.0);
  above_ += fmt::format(
      R"(<text x="{:.1f}" y="{:.1f}" text-anchor="{}" font-size="{}" font-weight="600" fill="{}" stroke="{}")"
      R"( stroke-width="3" paint-order="stroke">{}</text>)"
      "\n",
      x,
      y,
      word(anchor),
      fitted.size,
      color,
      style_.paper,
      xml_escaped(fitted.text));
}

void Figure::message(const std::string& text) {
  above_ += text_element(0.5 * (left_ + right_), 0.5 * (top_ + bottom_), Anchor::middle, 14.0, style_.muted, text);
}

std::string Figure::axes() const {
  std::string out;
  for (const Tick& tick : y_ticks_) {
    const double y = py(tick.value);
    out += line_element(left_, y, right_, y, style_.grid, 1.0);
    out += fitted_element(left_ - 8.0, y + 4.0, Anchor::end, 12.0, left_ - 34.0, style_.muted, tick.label);
  }
  const double tick_room = (right_ - left_) / std::max(1.0, static_cast<double>(x_.named.size())) - kTickGap;
  for (const Tick& tick : x_ticks_) {
    const double x = px(tick.value);
    out += line_element(x, bottom_, x, bottom_ + 5.0, style_.muted, 1.0);
    // A label at the end of the axis moves inwards as far as it takes to stay in the picture.
    const double half = 0.5 * std::min(tick_room, text_width(tick.label, 12.0));
    const double at = std::clamp(x, std::min(half, style_.width - half), std::max(half, style_.width - half));
    out += fitted_element(at, bottom_ + 19.0, Anchor::middle, 12.0, tick_room, style_.muted, tick.label);
  }
  out += line_element(left_, bottom_, right_, bottom_, style_.muted, 1.0);
  const double center = 0.5 * (left_ + right_);
  const double label_room = 2.0 * std::min(center, style_.width - center) - 8.0;
  out += fitted_element(center, style_.height - 14.0, Anchor::middle, 13.0, label_room, style_.ink, x_.label);
  const double middle = 0.5 * (top_ + bottom_);
  const FittedText label = fitted_text(y_.label, 13.0, 2.0 * std::min(middle, style_.height - middle) - 8.0);
  out += fmt::format(R"(<text x="18" y="{0:.1f}" text-anchor="middle" font-size="{3}" fill="{1}")"
                     R"x( transform="rotate(-90 18 {0:.1f})">{2}</text>)x"
                     "\n",
                     middle,
                     style_.ink,
                     xml_escaped(label.text),
                     label.size);
  return out;
}

std::string Figure::legend() const {
  std::string out;
  const std::vector<Point> places = legend_places(legend_, left_, right_);
  for (std::size_t i = 0; i < legend_.size(); ++i) {
    const LegendEntry& entry = legend_[i];
    const double x = places[i].x;
    const double y = 72.0 + places[i].y;
    switch (entry.swatch) {
      case LegendEntry::Swatch::line:
        out += line_element(x, y, x + 18.0, y, entry.color, 2.5);
        break;
      case LegendEntry::Swatch::square:
        out += fmt::format(R"(<rect x="{:.1f}" y="{:.1f}" width="12" height="12" rx="2" fill="{}"/>)"
                           "\n",
                           x + 3.0,
                           y - 6.0,
                           entry.color);
        break;
      case LegendEntry::Swatch::disc:
        out += disc_element(x + 9.0, y, 4.0, entry.color, 1.0);
        break;
      case LegendEntry::Swatch::cross:
        out += cross_element(x + 9.0, y, 4.0, entry.color, 1.0);
        break;
    }
    const double room = style_.width - 4.0 - (x + kSwatch);
    out += fitted_element(x + kSwatch, y + 4.0, Anchor::start, 12.0, room, style_.ink, entry.label);
  }
  return out;
}

std::string Figure::svg() const {
  std::string out =
      fmt::format(R"(<svg xmlns="http://www.w3.org/2000/svg" width="{0}" height="{1}" viewBox="0 0 {0} {1}" role="img")"
                  R"( font-family="system-ui, -apple-system, 'Segoe UI', 'DejaVu Sans', Helvetica, Arial, sans-serif">)"
                  "\n",
                  style_.width,
                  style_.height);
  if (!title_.empty()) out += fmt::format("<title>{}</title>\n", xml_escaped(title_));
  out += fmt::format(R"(<rect width="{}" height="{}" fill="{}"/>)"
                     "\n",
                     style_.width,
                     style_.height,
                     style_.paper);
  if (!title_.empty()) out += title_element(left_, style_.width - left_ - 8.0, style_.ink, title_);
  if (!subtitle_.empty()) {
    out += fitted_element(left_, 50.0, Anchor::start, 12.5, style_.width - left_ - 8.0, style_.muted, subtitle_);
  }
  out += legend() + axes();
  // An inner picture cuts at its edge, without a name that could stand twice in a page of several figures.
  out += fmt::format(
      R"(<svg x="{0:.1f}" y="{1:.1f}" width="{2:.1f}" height="{3:.1f}" viewBox="{0:.1f} {1:.1f} {2:.1f} {3:.1f}">)"
      "\n{4}</svg>\n",
      left_ - 6.0,
      top_ - 6.0,
      right_ - left_ + 12.0,
      bottom_ - top_ + 6.0,
      body_);
  return out + above_ + "</svg>\n";
}

std::string xml_escaped(std::string_view text) {
  std::string out;
  for (const char c : well_formed(text)) {
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      default:
        // XML 1.0 knows no control characters except these three.
        if (static_cast<unsigned char>(c) < 0x20 && c != '\t' && c != '\n' && c != '\r') {
          out += "\xEF\xBF\xBD";
        } else {
          out += c;
        }
    }
  }
  return out;
}

}  // namespace bapi
