#include "bapi/report/forecast_plots.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "bapi/report/plots.h"
#include "bapi/report/svg.h"

namespace bapi {

namespace {

constexpr std::array<const char*, 8> kColors = {
    "#0072B2", "#E69F00", "#009E73", "#D55E00", "#CC79A7", "#56B4E9", "#000000", "#9a9a9a"};

std::vector<Point> line_of(std::span<const BandPoint> points, double BandPoint::*y) {
  std::vector<Point> line;
  for (const BandPoint& point : points) line.push_back({point.x, point.*y});
  return line;
}

void draw_forecast(Figure& figure, const History& history, const CurveBand& forecast, const char* color) {
  figure.band(line_of(forecast.course, &BandPoint::high), line_of(forecast.course, &BandPoint::low), color, 0.15);
  figure.line(line_of(forecast.course, &BandPoint::mean), {.color = color, .width = 1.5, .dash = "5 3"});
  for (const Measurement& m : history.trial(forecast.trial).curve.points()) {
    figure.marker({static_cast<double>(m.epoch), history.in_user_units(m.value)}, Marker::disc, 2.0, color);
  }
}

// The axes of the curves, so that the two pictures can be compared; wider only where a forecast ends outside.
CurveAxes axes_for(const History& history, std::span<const double> ends) {
  CurveAxes axes = curve_axes(history);
  for (const double end : ends) {
    if (!std::isfinite(end) || (axes.y.scale == AxisScale::log && end <= 0.0)) continue;
    axes.y.low = std::min(axes.y.low, end);
    axes.y.high = std::max(axes.y.high, end);
  }
  return axes;
}

}  // namespace

std::string plot_outlook(const History& history, std::span<const BandPoint> best_by_total, Cost total) {
  const StudySpec& spec = history.spec();
  const Cost spent = history.budget().spent();
  std::vector<double> values;
  for (const BandPoint& at : best_by_total) values.insert(values.end(), {at.low, at.high});
  const Axis x{
      .label = fmt::format("total budget ({})", spec.budget.unit), .low = spent, .high = std::max(total, spent + 1e-9)};
  Figure figure(fmt::format("{}: what more budget would bring", spec.name),
                "expected best value, with its 80 % band",
                x,
                axis_over(values, spec.metric.name));
  figure.band(line_of(best_by_total, &BandPoint::high), line_of(best_by_total, &BandPoint::low), "#56B4E9", 0.3);
  const std::vector<Point> mean = line_of(best_by_total, &BandPoint::mean);
  figure.line(mean, {.color = "#0072B2", .width = 2.0});
  for (const Point& point : mean) figure.marker(point, Marker::disc, 3.0, "#0072B2");
  return figure.svg();
}

std::string plot_forecasts(const History& history, std::span<const CurveBand> forecasts) {
  const StudySpec& spec = history.spec();
  const std::span<const CurveBand> shown = forecasts.first(std::min(forecasts.size(), kColors.size()));
  std::vector<double> ends;
  std::vector<LegendEntry> legend;
  for (std::size_t i = 0; i < shown.size(); ++i) {
    ends.insert(ends.end(), {shown[i].course.back().low, shown[i].course.back().high});
    legend.push_back({.label = fmt::format("trial {}", index(shown[i].trial)), .color = kColors[i]});
  }
  const auto [x, y] = axes_for(history, ends);
  Figure figure(
      fmt::format("{}: forecasts", spec.name), "measured (dots), expected course with its 80 % band", x, y, legend);
  for (std::size_t i = 0; i < shown.size(); ++i) draw_forecast(figure, history, shown[i], kColors[i]);
  return figure.svg();
}

}  // namespace bapi
