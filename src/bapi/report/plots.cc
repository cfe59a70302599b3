#include "bapi/report/plots.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <map>
#include <set>
#include <vector>

#include "bapi/base/error.h"
#include "bapi/report/space_plots.h"
#include "bapi/report/summary.h"
#include "bapi/report/svg.h"
#include "bapi/report/text.h"
#include "bapi/study/direction.h"

namespace bapi {

namespace {

constexpr const char* kBlue = "#0072B2";
constexpr const char* kOrange = "#E69F00";
constexpr const char* kSky = "#56B4E9";
constexpr const char* kGreen = "#009E73";
constexpr const char* kVermilion = "#D55E00";
constexpr const char* kPurple = "#CC79A7";
constexpr const char* kYellow = "#F0E442";
constexpr const char* kGrey = "#9a9a9a";
constexpr const char* kPaleGrey = "#cdcdcd";
constexpr const char* kBlack = "#333333";

// Share of the value axis that stays free beyond the best value, for its label.
constexpr double kLabelRoom = 0.06;

constexpr int kMostPointsPerCurve = 400;
constexpr std::size_t kMostDots = 4000;
constexpr std::string_view kMetricPicture = "metrics.";

std::string color_of(TrialState state) {
  switch (state) {
    case TrialState::running:
      return kGreen;
    case TrialState::interrupted:
      return kOrange;
    case TrialState::paused:
      return kGrey;
    case TrialState::completed:
      return kSky;
    case TrialState::stopped:
      return kPurple;
    case TrialState::failed:
      return kVermilion;
  }
  return kGrey;
}

std::string color_of(CostKind kind) {
  switch (kind) {
    case CostKind::epoch:
      return kBlue;
    case CostKind::start_up:
      return kSky;
    case CostKind::repeat:
      return kOrange;
    case CostKind::unfinished:
      return kPurple;
    case CostKind::grace:
      return kYellow;
    case CostKind::failed:
      return kVermilion;
    case CostKind::lost:
      return kBlack;
    case CostKind::snapshot:
      return kGreen;
    case CostKind::ahead:
      return kGrey;
    case CostKind::unreported:
      return kPaleGrey;
  }
  return kGrey;
}

std::string goal_of(const StudySpec& spec) { return spec.metric.goal == Goal::maximize ? "higher" : "lower"; }

std::string metric_label(const StudySpec& spec) {
  return fmt::format("{} ({} is better)", spec.metric.name, goal_of(spec));
}

double quantile(std::vector<double> values, double share) {
  const auto place = values.begin() + static_cast<std::ptrdiff_t>(share * static_cast<double>(values.size() - 1));
  std::nth_element(values.begin(), place, values.end());
  return *place;
}

// An axis for metric values that follows their bulk. Losses that span decades get a log axis. On the bad side, values
// that would squeeze the others into a corner are left outside: a few far off, or many that are far worse than the
// median is from the best.
Axis value_axis(const std::vector<double>& values, const StudySpec& spec) {
  if (values.empty()) return {.label = metric_label(spec)};
  const auto [least, greatest] = std::minmax_element(values.begin(), values.end());
  const bool log = spec.metric.goal == Goal::minimize && spans_decades(*least, *greatest);
  const auto to = [&](double value) { return oriented(log ? std::log(value) : value, spec.metric.goal); };
  const auto back = [&](double score) {
    const double value = oriented(score, spec.metric.goal);
    return log ? std::exp(value) : value;
  };

  std::vector<double> scores;
  for (const double value : values) scores.push_back(to(value));
  const double best = *std::max_element(scores.begin(), scores.end());
  const double middle = quantile(scores, 0.5);
  const double worst = *std::min_element(scores.begin(), scores.end());
  const double bulk = quantile(scores, 0.02);
  double lowest = worst;
  if (best - worst > 2.0 * (best - bulk)) lowest = bulk - 0.5 * (best - bulk);
  if (best > middle && lowest < middle - 12.0 * (best - middle)) lowest = middle - 4.0 * (best - middle);
  const std::array<double, 2> ends = {best, lowest};

  Axis axis = axis_over(ends, metric_label(spec));
  axis.high += kLabelRoom * (axis.high - axis.low);
  if (log) {
    const double low = std::min(back(axis.low), back(axis.high));
    const double high = std::max(back(axis.low), back(axis.high));
    return {.label = axis.label, .low = low, .high = high, .scale = AxisScale::log};
  }
  if (spec.metric.goal == Goal::minimize) axis = {.label = axis.label, .low = -axis.high, .high = -axis.low};
  return axis;
}

// Without values that are far from the middle half: of a metric nothing is known but its values.
Axis bulk_axis(const std::vector<double>& values, const std::string& label) {
  std::vector<double> finite;
  std::copy_if(values.begin(), values.end(), std::back_inserter(finite), [](double v) { return std::isfinite(v); });
  if (finite.empty()) return {.label = label};
  const double low = quantile(finite, 0.25);
  const double high = quantile(finite, 0.75);
  constexpr double kFar = 12.0;
  std::vector<double> near;
  for (const double value : finite) {
    if (high <= low || (value >= low - kFar * (high - low) && value <= high + kFar * (high - low)))
      near.push_back(value);
  }
  return axis_over(near, label);
}

std::size_t outside(const std::vector<double>& values, const Axis& axis) {
  return static_cast<std::size_t>(
      std::count_if(values.begin(), values.end(), [&](double v) { return v < axis.low || v > axis.high; }));
}

std::string outside_note(std::size_t count) {
  return count == 0 ? "" : fmt::format(" · {} outside the frame", plural(static_cast<std::int64_t>(count), "value"));
}

// Costs in a unit in which the numbers stay readable.
struct CostScale {
  double divisor = 1.0;
  std::string unit;
};

CostScale cost_scale(Cost largest, const BudgetSpec& budget) {
  if (budget.meter != Meter::accrued || budget.unit != "s") return {.divisor = 1.0, .unit = budget.unit};
  if (largest >= 2.0 * 86400.0) return {.divisor = 86400.0, .unit = "days"};
  if (largest >= 2.0 * 3600.0) return {.divisor = 3600.0, .unit = "h"};
  if (largest >= 3.0 * 60.0) return {.divisor = 60.0, .unit = "min"};
  return {.divisor = 1.0, .unit = "s"};
}

// Every k-th point so that the picture stays small, and always the last.
std::vector<Point> points_of(const History& history, const Curve& curve) {
  const int stride = 1 + curve.last_epoch() / kMostPointsPerCurve;
  std::vector<Point> points;
  for (const Measurement& point : curve.points()) {
    if (point.epoch % stride != 0 && point.epoch != curve.last_epoch() && point.epoch != 1) continue;
    points.push_back({static_cast<double>(point.epoch), history.in_user_units(point.value)});
  }
  return points;
}

double trial_opacity(const History& history) {
  return std::clamp(4.0 / std::sqrt(static_cast<double>(history.trials().size())), 0.25, 0.85);
}

std::vector<double> curve_values(const History& history) {
  std::vector<double> values;
  for (const Trial& trial : history.trials()) {
    for (const Measurement& point : trial.curve.points()) values.push_back(history.in_user_units(point.value));
  }
  return values;
}

Axis epoch_axis(const History& history) {
  Epoch longest = 1;
  for (const Trial& trial : history.trials()) longest = std::max(longest, trial.curve.last_epoch());
  const double last = std::max({longest, history.spec().epochs.max, 2});
  return {.label = "epoch", .low = last > 10.0 ? 0.0 : 0.5, .high = last, .ticks = Ticks::whole};
}

std::set<std::string> other_metric_names(const History& history) {
  std::set<std::string> names;
  for (const Trial& trial : history.trials()) {
    for (const auto& [epoch, metrics] : trial.others) {
      for (const auto& [name, value] : metrics) names.insert(name);
    }
  }
  return names;
}

std::vector<Point> metric_points(const Trial& trial, const std::string& metric) {
  const int stride = 1 + trial.curve.last_epoch() / kMostPointsPerCurve;
  std::vector<Point> points;
  for (const auto& [epoch, metrics] : trial.others) {
    const auto found = metrics.find(metric);
    if (found == metrics.end() || !std::isfinite(found->second)) continue;
    if (epoch % stride != 0 && epoch != trial.curve.last_epoch() && epoch != 1) continue;
    points.push_back({static_cast<double>(epoch), found->second});
  }
  return points;
}

std::vector<LegendEntry> state_legend(const History& history) {
  const TrialCounts counts = count_trials(history, Controller::present);
  std::vector<LegendEntry> entries;
  if (history.incumbent()) entries.push_back({.label = "incumbent", .color = kBlue});
  const auto add = [&](TrialState state, int count) {
    if (count == 0) return;
    entries.push_back({.label = fmt::format("{} {}", count, to_string(state)), .color = color_of(state)});
  };
  add(TrialState::running, counts.running);
  add(TrialState::interrupted, counts.interrupted);
  add(TrialState::paused, counts.paused);
  add(TrialState::completed, counts.completed);
  add(TrialState::stopped, counts.stopped);
  if (counts.failed > 0) {
    entries.push_back({.label = fmt::format("{} failed", counts.failed),
                       .color = color_of(TrialState::failed),
                       .swatch = LegendEntry::Swatch::cross});
  }
  return entries;
}

// Labels of the best value stand where nothing can be: beyond it.
Side beyond_best(const StudySpec& spec) { return spec.metric.goal == Goal::maximize ? Side::above : Side::below; }

std::string best_label(const History& history, const Best& found) {
  return fmt::format("{} {} · trial {}", history.spec().metric.name, value_text(found), index(found.trial));
}

void draw_trial(Figure& figure, const History& history, const Trial& trial, double opacity) {
  if (trial.curve.empty()) return;
  const std::vector<Point> points = points_of(history, trial.curve);
  const std::string color = color_of(trial.state);
  figure.line(points, {.color = color, .width = 1.2, .opacity = opacity});
  // A curve of one point is invisible as a line.
  if (trial.state == TrialState::failed) {
    figure.marker(points.back(), Marker::cross, 3.5, color, std::max(0.6, opacity));
  } else {
    figure.marker(points.back(), Marker::disc, 2.0, color, opacity);
  }
}

void draw_incumbent(Figure& figure, const History& history, const Best& found) {
  const Trial& trial = history.trial(found.trial);
  figure.line(points_of(history, trial.curve), {.color = kBlue, .width = 2.8});
  const Point at{static_cast<double>(found.epoch), found.trial_value};
  figure.marker(at, Marker::ring, 4.5, kBlue);
  figure.text(at, Anchor::end, beyond_best(history.spec()), best_label(history, found), kBlue);
}

}  // namespace

std::vector<std::string> picture_names(const History& history) {
  std::vector<std::string> names = {"curves", "incumbent", "budget", "slices", "parallel", "cost", "importance"};
  for (const std::string& metric : other_metric_names(history)) names.push_back(std::string(kMetricPicture) + metric);
  return names;
}

std::string picture(std::string_view name, const History& history, std::span<const StoredEvent> events) {
  if (name == "curves") return plot_curves(history);
  if (name == "incumbent") return plot_incumbent(history, events);
  if (name == "budget") return plot_budget(history, events);
  if (name == "slices") return plot_slices(history);
  if (name == "parallel") return plot_parallel(history);
  if (name == "cost") return plot_cost(history);
  if (name == "importance") return plot_importance(history);
  const std::vector<std::string> names = picture_names(history);
  if (name.starts_with(kMetricPicture) && std::find(names.begin(), names.end(), name) != names.end()) {
    return plot_metric(history, std::string(name.substr(kMetricPicture.size())));
  }
  throw InvalidInput(fmt::format("plot: found \"{}\", expected one of {}", name, fmt::join(names, ", ")));
}

CurveAxes curve_axes(const History& history) {
  return {.x = epoch_axis(history), .y = value_axis(curve_values(history), history.spec())};
}

std::string plot_metric(const History& history, const std::string& metric) {
  std::vector<double> values;
  for (const Trial& trial : history.trials()) {
    for (const Point& point : metric_points(trial, metric)) values.push_back(point.y);
  }
  const Axis y = bulk_axis(values, metric);
  const std::string subtitle = plural(std::ssize(values), "report") + outside_note(outside(values, y));
  Figure figure(history.spec().name + ": " + metric, subtitle, epoch_axis(history), y, state_legend(history));
  const double opacity = trial_opacity(history);
  for (const Trial& trial : history.trials()) {
    const std::vector<Point> points = metric_points(trial, metric);
    if (points.empty()) continue;
    const bool best = history.incumbent() == trial.id;
    const std::string color = best ? kBlue : color_of(trial.state);
    figure.line(points, {.color = color, .width = best ? 2.8 : 1.2, .opacity = best ? 1.0 : opacity});
    figure.marker(points.back(), Marker::disc, 2.0, color, best ? 1.0 : opacity);
  }
  return figure.svg();
}

std::string plot_curves(const History& history) {
  const StudySpec& spec = history.spec();
  const std::vector<double> values = curve_values(history);
  const auto [x, y] = curve_axes(history);
  const std::string subtitle = plural(std::ssize(history.trials()), "trial") + ", " +
                               plural(std::ssize(values), "epoch") + " trained" + outside_note(outside(values, y));
  Figure figure(spec.name + ": learning curves", subtitle, x, y, state_legend(history));
  if (values.empty()) {
    figure.message("no reports yet");
    return figure.svg();
  }

  const double opacity = trial_opacity(history);
  const std::optional<Best> found = best(history);
  for (const Trial& trial : history.trials()) {
    if (!found || trial.id != found->trial) draw_trial(figure, history, trial, opacity);
  }
  if (found) draw_incumbent(figure, history, *found);
  return figure.svg();
}

std::string plot_incumbent(const History& history, std::span<const StoredEvent> events) {
  const StudySpec& spec = history.spec();
  const Budget budget = history.budget();
  const CostScale scale = cost_scale(std::max(budget.total(), budget.spent()), spec.budget);

  std::vector<double> values;
  std::vector<Point> dots;
  std::vector<Point> steps;
  for (const SpentReport& report : spent_reports(spec, events)) {
    values.push_back(report.measurement.value);
    dots.push_back({report.spent / scale.divisor, report.measurement.value});
    if (report.improves) steps.push_back({dots.back().x, report.best});
  }

  const Axis y = value_axis(values, spec);
  const double end = std::max(budget.total(), budget.spent()) / scale.divisor;
  const Axis x{.label = fmt::format("budget spent ({})", scale.unit), .low = 0.0, .high = end > 0.0 ? end * 1.01 : 1.0};
  const std::string subtitle = fmt::format(
      "{} spent{}", spent_of(budget.spent(), budget.total(), spec.budget), outside_note(outside(values, y)));
  Figure figure(spec.name + ": best " + spec.metric.name + " so far",
                subtitle,
                x,
                y,
                {{.label = "best so far", .color = kBlue},
                 {.label = "every report", .color = kGrey, .swatch = LegendEntry::Swatch::disc},
                 {.label = "budget", .color = kVermilion}});
  const double total = budget.total() / scale.divisor;
  const std::array<Point, 2> limit = {Point{total, y.low}, Point{total, y.high}};
  figure.line(limit, {.color = kVermilion, .width = 1.5, .dash = "5 4"});
  if (values.empty()) {
    figure.message("no reports yet");
    return figure.svg();
  }

  const std::size_t stride = 1 + dots.size() / kMostDots;
  for (std::size_t i = 0; i < dots.size(); i += stride) {
    figure.marker(dots[i], Marker::disc, 1.8, kGrey, dots.size() > 500 ? 0.3 : 0.55);
  }
  std::vector<Point> stairs;
  for (const Point& step : steps) {
    if (!stairs.empty()) stairs.push_back({step.x, stairs.back().y});
    stairs.push_back(step);
  }
  stairs.push_back({budget.spent() / scale.divisor, steps.back().y});
  figure.line(stairs, {.color = kBlue, .width = 2.5});
  if (steps.size() <= 60) {
    for (const Point& step : steps) figure.marker(step, Marker::disc, 3.0, kBlue);
  }
  figure.text(stairs.back(), Anchor::end, beyond_best(spec), best_label(history, *best(history)), kBlue);
  return figure.svg();
}

std::string plot_budget(const History& history, std::span<const StoredEvent> events) {
  const StudySpec& spec = history.spec();
  const std::vector<Charge> charges = ledger(events);
  const std::size_t trials = history.trials().size();
  const std::vector<Spending> by_trial = spending_by_trial(charges, trials);
  const Spending sums = spending(charges);
  const Cost spent = history.budget().spent();

  Cost highest = 0.0;
  for (const Trial& trial : history.trials()) highest = std::max(highest, trial.spent());
  const CostScale scale = cost_scale(highest, spec.budget);
  const Axis x{
      .label = "trial", .low = -0.6, .high = std::max(0.6, static_cast<double>(trials) - 0.4), .ticks = Ticks::whole};
  const Axis y{.label = fmt::format("cost ({})", scale.unit),
               .low = 0.0,
               .high = highest > 0.0 ? 1.1 * highest / scale.divisor : 1.0};

  std::vector<LegendEntry> legend;
  for (const CostKind kind : kCostKinds) {
    const Cost sum = sums[static_cast<std::size_t>(kind)];
    if (sum == 0.0) continue;
    legend.push_back({.label = fmt::format("{} {:.1f} %", word(kind), 100.0 * sum / spent),
                      .color = color_of(kind),
                      .swatch = LegendEntry::Swatch::square});
  }
  const std::string subtitle = fmt::format("{} spent on {}",
                                           spent_of(spent, history.budget().total(), spec.budget),
                                           plural(static_cast<std::int64_t>(trials), "trial"));
  Figure figure(spec.name + ": where the budget went", subtitle, x, y, legend);
  if (charges.empty()) {
    figure.message("nothing spent yet");
    return figure.svg();
  }

  // Bars keep a gap as long as there is room for one, and do not grow into blocks when there are few.
  const double share = figure.pixels_per_x() < 5.0 ? 1.0 : 0.82;
  const double half = 0.5 * std::min(share, 56.0 / figure.pixels_per_x());
  for (std::size_t i = 0; i < trials; ++i) {
    const double at = static_cast<double>(i);
    double base = 0.0;
    for (const CostKind kind : kCostKinds) {
      const double height = by_trial[i][static_cast<std::size_t>(kind)] / scale.divisor;
      if (height <= 0.0) continue;
      figure.bar({at - half, base}, {at + half, base + height}, color_of(kind));
      base += height;
    }
    if (history.incumbent() && index(*history.incumbent()) == static_cast<std::int64_t>(i)) {
      figure.text({at, base}, Anchor::middle, Side::above, "best", kBlue);
    }
  }
  return figure.svg();
}

}  // namespace bapi
