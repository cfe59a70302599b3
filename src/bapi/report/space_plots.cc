#include "bapi/report/space_plots.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <limits>

#include "bapi/report/svg.h"
#include "bapi/report/svg_elements.h"
#include "bapi/report/text.h"
#include "bapi/study/progress.h"

namespace bapi {
namespace {

constexpr const char* kResultColor = "#0072B2";
constexpr const char* kOtherColor = "#9a9a9a";
constexpr const char* kFailureColor = "#D55E00";

constexpr double kSliceWidth = 400.0;
constexpr double kSliceHeight = 280.0;
constexpr int kSlicesPerRow = 2;
constexpr std::size_t kMostGridPoints = 12;  // per parameter, for main effects
constexpr double kRoundingVariance = 1e-9;   // of ranks, which are whole numbers or halves
constexpr std::size_t kMostTrials = 300;     // for main effects: the last ones

// One trial with a result: coordinates in the unit cube, and the best value to be maximised.
struct Result {
  const Trial* trial;
  Vector unit;
  double score;
};

// Where the coordinates of parameters that vary stand among all parameters.
std::vector<std::size_t> varying(const Space& space) {
  std::vector<std::size_t> places;
  for (std::size_t i = 0; i < space.params().size(); ++i) {
    if (!std::holds_alternative<Constant>(space.params()[i].domain)) places.push_back(i);
  }
  return places;
}

std::vector<Result> results_of(const History& history) {
  std::vector<Result> results;
  for (const Trial& trial : history.trials()) {
    if (trial.curve.empty()) continue;
    results.push_back(
        {.trial = &trial, .unit = history.spec().space.to_unit(trial.config), .score = trial.curve.best()});
  }
  return results;
}

std::string result_label(const StudySpec& spec) {
  return fmt::format(
      "{} ({} is better)", result_name(spec.metric), spec.metric.goal == Goal::maximize ? "higher" : "lower");
}

// With a log scale and some air, which is wanted where positive values span decades.
Axis log_axis(double low, double high, const std::string& label) {
  const double air = std::pow(high / low, 0.05);
  return {.label = label, .low = low / air, .high = high * air, .scale = AxisScale::log};
}

// Losses that span decades get a log axis, as curves do. Otherwise values that are far worse than the others would
// squeeze these into a corner: the axis shows the better nine tenths.
Axis result_axis(const History& history, const std::vector<Result>& results) {
  std::vector<double> scores;
  for (const Result& result : results) scores.push_back(result.score);
  std::sort(scores.begin(), scores.end());
  const double best = history.in_user_units(scores.back());
  const double last = history.in_user_units(scores.front());
  if (history.spec().metric.goal == Goal::minimize && spans_decades(best, last)) {
    return log_axis(best, last, result_label(history.spec()));
  }
  const std::size_t worst = scores.size() > 20 ? scores.size() / 10 : 0;
  const std::array<double, 2> ends = {history.in_user_units(scores[worst]), best};
  return axis_over(ends, result_label(history.spec()));
}

struct ParamAxis {
  Axis axis;
  std::vector<std::string> options = {};  // of a choice: its places are 0, 1, 2, ...
  bool towards_one = false;               // the places of a log1m parameter are -log(1 - value)
};

double towards_one(double value) { return -std::log1p(-value); }

// A parameter such as a momentum, whose values differ most where they are close to 1.
ParamAxis axis_towards_one(const std::string& name, const RealRange& range) {
  ParamAxis found = {.axis = {.label = name, .low = towards_one(range.low), .high = towards_one(range.high)},
                     .towards_one = true};
  std::vector<double> marks = {range.low};
  for (const double mark : {0.0, 0.5, 0.8, 0.9, 0.95, 0.98, 0.99, 0.995, 0.998, 0.999, 0.9999, 0.99999}) {
    if (mark > range.low && mark < range.high) marks.push_back(mark);
  }
  marks.push_back(range.high);
  constexpr double kRoom = 0.09;  // of the axis, for a label
  for (const double mark : marks) {
    const double place = towards_one(mark);
    const double room = kRoom * (found.axis.high - found.axis.low);
    const bool last = mark == range.high;
    if (last && found.axis.named.size() > 1 && place - found.axis.named.back().value < room)
      found.axis.named.pop_back();
    if (!last && !found.axis.named.empty() && place - found.axis.named.back().value < room) continue;
    found.axis.named.push_back({place, short_number(mark)});
  }
  return found;
}

ParamAxis axis_of(const Param& param) {
  if (const auto* real = std::get_if<RealRange>(&param.domain)) {
    if (real->scale == Scale::log_complement) return axis_towards_one(param.name, *real);
    const AxisScale scale = real->scale == Scale::log ? AxisScale::log : AxisScale::linear;
    return {.axis = {.label = param.name, .low = real->low, .high = real->high, .scale = scale}};
  }
  if (const auto* whole = std::get_if<IntRange>(&param.domain)) {
    const bool log = whole->scale == Scale::log;
    return {.axis = {.label = param.name,
                     .low = static_cast<double>(whole->low) - (log ? 0.0 : 0.5),
                     .high = static_cast<double>(whole->high) + (log ? 0.0 : 0.5),
                     .scale = log ? AxisScale::log : AxisScale::linear,
                     .ticks = Ticks::whole}};
  }
  ParamAxis found;
  if (const auto* choice = std::get_if<Choice>(&param.domain)) {
    for (const Value& option : choice->options) found.options.push_back(to_text(option));
  }
  found.axis = {.label = param.name, .low = -0.5, .high = static_cast<double>(found.options.size()) - 0.5};
  for (const std::string& option : found.options) {
    found.axis.named.push_back({static_cast<double>(found.axis.named.size()), option});
  }
  return found;
}

// Where a value stands on its axis; NaN if the parameter does not apply.
double place_on(const ParamAxis& axis, const Value& value) {
  if (const auto* real = std::get_if<double>(&value); real && axis.options.empty()) {
    return axis.towards_one ? towards_one(*real) : *real;
  }
  if (const auto* whole = std::get_if<std::int64_t>(&value); whole && axis.options.empty()) {
    return static_cast<double>(*whole);
  }
  const auto found = std::find(axis.options.begin(), axis.options.end(), to_text(value));
  if (std::holds_alternative<std::monostate>(value) || found == axis.options.end()) {
    return std::numeric_limits<double>::quiet_NaN();
  }
  return static_cast<double>(found - axis.options.begin());
}

bool applies(const Result& result, std::size_t param) {
  return !std::holds_alternative<std::monostate>(result.trial->config.values[param]);
}

// The ends of the range of a number.
std::array<std::string, 2> ends_of(const Param& param) {
  if (const auto* real = std::get_if<RealRange>(&param.domain)) {
    return {short_number(real->low), short_number(real->high)};
  }
  const auto& whole = std::get<IntRange>(param.domain);
  return {fmt::format("{}", whole.low), fmt::format("{}", whole.high)};
}

std::string empty_picture(const std::string& title) {
  Figure figure(title, "", {}, {});
  figure.message("no reports yet");
  return figure.svg();
}

// Several drawings under one title, which is also the name of the picture for those who do not see it.
std::string page(
    double width, double height, const std::string& title, const std::string& subtitle, const std::string& body) {
  return fmt::format(
      R"(<svg xmlns="http://www.w3.org/2000/svg" width="{0}" height="{1}" viewBox="0 0 {0} {1}" role="img")"
      R"( font-family="system-ui, -apple-system, 'Segoe UI', 'DejaVu Sans', Helvetica, Arial, sans-serif">)"
      "\n<title>{2}</title>\n<rect width=\"{0}\" height=\"{1}\" fill=\"#ffffff\"/>\n{3}{4}{5}</svg>\n",
      width,
      height,
      xml_escaped(title),
      title_element(20.0, width - 40.0, "#222222", title),
      subtitle.empty() ? "" : fitted_element(20.0, 50.0, Anchor::start, 12.0, width - 40.0, "#666666", subtitle),
      body);
}

// A whole picture at a place of a larger one.
std::string placed_at(double x, double y, const std::string& svg) {
  return fmt::format("<svg x=\"{}\" y=\"{}\" {}", x, y, svg.substr(std::string("<svg ").size()));
}

// A result that the axis leaves out is drawn at its end: where nothing is drawn, nothing was tried.
double within(const Axis& axis, double value) { return std::clamp(value, axis.low, axis.high); }

std::string beyond_note(const History& history, const std::vector<Result>& results, const Axis& axis) {
  const auto count = std::count_if(results.begin(), results.end(), [&](const Result& result) {
    const double value = history.in_user_units(result.score);
    return value != within(axis, value);
  });
  return count == 0 ? "" : fmt::format(" · {} beyond the frame, drawn at its edge", plural(count, "result"));
}

std::string slice(const History& history, const std::vector<Result>& results, std::size_t param, const Axis& y) {
  const ParamAxis x = axis_of(history.spec().space.params()[param]);
  Figure figure("", "", x.axis, y, {}, {.width = kSliceWidth, .height = kSliceHeight});
  for (const Result& result : results) {
    const bool best = history.incumbent() == result.trial->id;
    const bool failed = result.trial->state == TrialState::failed;
    figure.marker({place_on(x, result.trial->config.values[param]), within(y, history.in_user_units(result.score))},
                  failed ? Marker::cross
                  : best ? Marker::ring
                         : Marker::disc,
                  best ? 5.0 : 2.5,
                  failed ? kFailureColor
                  : best ? kResultColor
                         : kOtherColor,
                  best ? 1.0 : 0.7);
  }
  return figure.svg();
}

// Where the line of a trial crosses an axis of parallel coordinates.
struct Corner {
  std::size_t column = 0;
  double x = 0.0;
  double y = 0.0;
};

// Dashed past the axes of parameters that do not apply.
std::string parallel_line(const std::vector<Corner>& corners, bool top, double faint) {
  std::string out;
  std::string points;
  const auto draw = [&](std::string_view dash) {
    out += fmt::format(
        "<polyline points=\"{}\" fill=\"none\" stroke=\"{}\" stroke-width=\"{}\" stroke-opacity=\"{:.2f}\"{}/>\n",
        points,
        top ? kResultColor : kOtherColor,
        top ? 1.8 : 1.0,
        top ? 0.9 : faint,
        dash);
    points.clear();
  };
  const auto text = [](const Corner& at) { return fmt::format("{:.1f},{:.1f}", at.x, at.y); };
  for (std::size_t i = 0; i < corners.size(); ++i) {
    const bool past_another = i > 0 && corners[i].column > corners[i - 1].column + 1;
    if (past_another) {
      if (points.find(' ') != std::string::npos) draw("");
      points = text(corners[i - 1]) + " " + text(corners[i]);
      draw(" stroke-dasharray=\"4 4\"");
    }
    points += (points.empty() ? "" : " ") + text(corners[i]);
  }
  if (points.find(' ') != std::string::npos) draw("");
  return out;
}

// Next to an axis of parallel coordinates, each option at its place; of more than there is room for, evenly some.
std::string option_names(const Choice& choice, double x, double room, const std::function<double(double)>& up) {
  constexpr double kRow = 14.0;
  const std::size_t count = choice.options.size();
  const double height = up(0.0) - up(1.0);
  const auto stride = static_cast<std::size_t>(std::ceil(kRow * static_cast<double>(count) / height));
  std::string names = "<g paint-order=\"stroke\" stroke=\"#ffffff\" stroke-width=\"3\">\n";
  for (std::size_t i = 0; i < count; i += stride) {
    const double share = (static_cast<double>(i) + 0.5) / static_cast<double>(count);
    names += fitted_element(x + 5.0, up(share) + 4.0, Anchor::start, 11.5, room, "#444444", to_text(choice.options[i]));
  }
  return names + "</g>\n";
}

// ── main effects ────────────────────────────────────────────────────────────────────────────────────────────────────

// Gaussian kernel regression over the unit cube, with a width for each coordinate: the ones that tell best what was
// left out, found one coordinate after the other. A coordinate without influence ends up with a width beyond the cube.
class Smoother {
 public:
  explicit Smoother(const std::vector<Result>& results)
      : results_(results), rates_(Vector::Constant(results.front().unit.size(), rate_of(0.25))) {
    constexpr int kSweeps = 3;
    double least = left_out_error();
    for (int sweep = 0; sweep < kSweeps; ++sweep) {
      const double before = least;
      for (Eigen::Index j = 0; j < rates_.size(); ++j) least = narrowed_or_widened(j, least);
      if (least >= before) break;
    }
  }

  double at(const Vector& unit) const { return smoothed(unit, results_.size()); }

 private:
  static double rate_of(double width) { return 0.5 / (width * width); }

  // Takes the best width of coordinate j for those of the others; returns its error, at most `least`.
  double narrowed_or_widened(Eigen::Index j, double least) {
    double best = rates_[j];
    for (const double width : {0.05, 0.1, 0.15, 0.25, 0.4, 0.7, 3.0}) {
      rates_[j] = rate_of(width);
      const double error = left_out_error();
      if (error >= least) continue;
      least = error;
      best = rates_[j];
    }
    rates_[j] = best;
    return least;
  }

  double smoothed(const Vector& unit, std::size_t without) const {
    double sum = 0.0;
    double weights = 0.0;
    for (std::size_t i = 0; i < results_.size(); ++i) {
      if (i == without) continue;
      const double weight = std::exp(-(results_[i].unit - unit).array().square().matrix().dot(rates_)) + 1e-300;
      sum += weight * results_[i].score;
      weights += weight;
    }
    return sum / weights;
  }

  double left_out_error() const {
    double error = 0.0;
    for (std::size_t i = 0; i < results_.size(); ++i) {
      error += std::pow(smoothed(results_[i].unit, i) - results_[i].score, 2);
    }
    return error;
  }

  const std::vector<Result>& results_;
  Vector rates_;
};

double variance(const std::vector<double>& values) {
  double mean = 0.0;
  for (const double value : values) mean += value / static_cast<double>(values.size());
  double sum = 0.0;
  for (const double value : values) sum += (value - mean) * (value - mean) / static_cast<double>(values.size());
  return sum;
}

// Values that a parameter was tried with, at most kMostGridPoints of them, evenly among those that there are.
std::vector<double> tried_places(const std::vector<Result>& results, Eigen::Index column) {
  std::vector<double> places;
  for (const Result& result : results) places.push_back(result.unit[column]);
  std::sort(places.begin(), places.end());
  const std::size_t stride = 1 + (places.size() - 1) / kMostGridPoints;
  std::vector<double> thinned;
  for (std::size_t i = stride / 2; i < places.size(); i += stride) thinned.push_back(places[i]);
  return thinned;
}

double main_effect(const std::vector<Result>& results, const Smoother& smoother, Eigen::Index column) {
  std::vector<double> means;
  for (const double place : tried_places(results, column)) {
    double mean = 0.0;
    for (const Result& result : results) {
      Vector moved = result.unit;
      moved[column] = place;
      mean += smoother.at(moved) / static_cast<double>(results.size());
    }
    means.push_back(mean);
  }
  return variance(means);
}

// By rank: one that diverged must not outweigh all others.
void rank_scores(std::vector<Result>& results) {
  std::vector<double> sorted;
  for (const Result& result : results) sorted.push_back(result.score);
  std::sort(sorted.begin(), sorted.end());
  for (Result& result : results) {
    const auto [first, last] = std::equal_range(sorted.begin(), sorted.end(), result.score);
    result.score = 0.5 * static_cast<double>((first - sorted.begin()) + (last - sorted.begin()));
  }
}

// Where the axes of parallel coordinates are: one for each parameter, and that of the results.
struct ParallelFrame {
  static constexpr double kHeight = 440.0;
  static constexpr double kTop = 90.0;
  static constexpr double kBottom = 380.0;

  double width;
  double step;

  explicit ParallelFrame(std::size_t params)
      : width(std::max(560.0, 130.0 * static_cast<double>(params + 1) + 80.0)),
        step((width - 160.0) / static_cast<double>(params)) {}

  double across(std::size_t column) const { return 80.0 + step * static_cast<double>(column); }
  static double up(double share) { return kBottom - share * (kBottom - kTop); }
};

// Of results from the worst to the best.
std::string parallel_lines(const ParallelFrame& frame,
                           const std::vector<Result>& results,
                           const std::vector<std::size_t>& params) {
  std::string lines;
  const double count = static_cast<double>(results.size());
  for (std::size_t rank = 0; rank < results.size(); ++rank) {
    const Result& result = results[rank];
    const double share = results.size() > 1 ? static_cast<double>(rank) / (count - 1.0) : 1.0;
    const bool top = share >= 0.9 || rank + 1 == results.size();
    std::vector<Corner> corners;
    for (std::size_t column = 0; column < params.size(); ++column) {
      if (!applies(result, params[column])) continue;
      corners.push_back(
          {column, frame.across(column), ParallelFrame::up(result.unit[static_cast<Eigen::Index>(column)])});
    }
    corners.push_back({params.size(), frame.across(params.size()), ParallelFrame::up(share)});
    lines += parallel_line(corners, top, std::clamp(8.0 / count, 0.12, 0.5));
  }
  return lines;
}

// With the names of its ends, from below, or of the options of `choice`.
std::string parallel_axis(const ParallelFrame& frame,
                          std::size_t column,
                          const std::string& name,
                          const std::array<std::string, 2>& ends,
                          const Choice* choice) {
  constexpr double kTop = ParallelFrame::kTop;
  constexpr double kBottom = ParallelFrame::kBottom;
  const double x = frame.across(column);
  std::string axis = line_element(x, kTop, x, kBottom, "#222222", 1.0);
  if (choice) axis += option_names(*choice, x, frame.step - 12.0, ParallelFrame::up);
  const double room = std::min(frame.step - 8.0, 2.0 * std::min(x, frame.width - x) - 8.0);
  axis += fitted_element(x, kTop - 24.0, Anchor::middle, 13.0, room, "#222222", name);
  axis += fitted_element(x, kTop - 8.0, Anchor::middle, 11.5, room, "#666666", ends[1]);
  axis += fitted_element(x, kBottom + 18.0, Anchor::middle, 11.5, room, "#666666", ends[0]);
  return axis;
}

}  // namespace

std::string result_name(const Metric& metric) { return (metric.of == ValueOf::last ? "last " : "best ") + metric.name; }

std::vector<Importance> importance_of(const History& history) {
  std::vector<Result> results = results_of(history);
  if (results.size() > kMostTrials) results.erase(results.begin(), results.end() - kMostTrials);
  if (std::ssize(results) < kFewestForImportance) return {};
  rank_scores(results);
  const Smoother smoother(results);
  std::vector<double> fitted;
  for (const Result& result : results) fitted.push_back(smoother.at(result.unit));
  const double total = variance(fitted);
  std::vector<Importance> found;
  Eigen::Index column = 0;
  for (const std::size_t place : varying(history.spec().space)) {
    const double effect = total > kRoundingVariance ? main_effect(results, smoother, column) / total : 0.0;
    found.push_back({.param = history.spec().space.params()[place].name, .share = std::clamp(effect, 0.0, 1.0)});
    ++column;
  }
  std::stable_sort(
      found.begin(), found.end(), [](const Importance& a, const Importance& b) { return a.share > b.share; });
  return found;
}

std::string plot_slices(const History& history) {
  const std::vector<Result> results = results_of(history);
  const std::string title = history.spec().name + ": results by parameter";
  const std::vector<std::size_t> params = varying(history.spec().space);
  if (results.empty() || params.empty()) return empty_picture(title);
  const Axis y = result_axis(history, results);
  constexpr double kHead = 60.0;
  const double rows = std::ceil(static_cast<double>(params.size()) / kSlicesPerRow);
  std::string body;
  for (std::size_t i = 0; i < params.size(); ++i) {
    body += placed_at(kSliceWidth * static_cast<double>(i % kSlicesPerRow),
                      kHead + kSliceHeight * static_cast<double>(i / kSlicesPerRow),
                      slice(history, results, params[i], y));
  }
  return page(kSlicesPerRow * kSliceWidth,
              kHead + rows * kSliceHeight,
              title,
              plural(std::ssize(results), "trial") + beyond_note(history, results, y),
              body);
}

std::string plot_cost(const History& history) {
  const std::vector<Result> results = results_of(history);
  const std::string title = history.spec().name + ": cost against result";
  if (results.empty()) return empty_picture(title);
  std::vector<double> costs;
  for (const Result& result : results) costs.push_back(result.trial->spent());
  const std::string unit = history.spec().budget.unit;
  Axis x = axis_over(costs, fmt::format("cost of the trial ({})", unit));
  const auto [least, most] = std::minmax_element(costs.begin(), costs.end());
  if (spans_decades(*least, *most)) x = log_axis(*least, *most, x.label);
  std::vector<LegendEntry> legend = {{.label = "best", .color = kResultColor, .swatch = LegendEntry::Swatch::disc},
                                     {.label = "others", .color = kOtherColor, .swatch = LegendEntry::Swatch::disc}};
  if (std::any_of(
          results.begin(), results.end(), [](const Result& r) { return r.trial->state == TrialState::failed; })) {
    legend.push_back({.label = "failed", .color = kFailureColor, .swatch = LegendEntry::Swatch::cross});
  }
  const Axis y = result_axis(history, results);
  Figure figure(
      title, plural(std::ssize(results), "trial") + beyond_note(history, results, y), x, y, std::move(legend));
  for (const Result& result : results) {
    const bool best = history.incumbent() == result.trial->id;
    const bool failed = result.trial->state == TrialState::failed;
    figure.marker({result.trial->spent(), within(y, history.in_user_units(result.score))},
                  failed ? Marker::cross : Marker::disc,
                  best ? 5.0 : 3.0,
                  failed ? kFailureColor
                  : best ? kResultColor
                         : kOtherColor,
                  best ? 1.0 : 0.7);
  }
  return figure.svg();
}

std::string plot_parallel(const History& history) {
  std::vector<Result> results = results_of(history);
  const std::string title = history.spec().name + ": configurations and results";
  const std::vector<std::size_t> params = varying(history.spec().space);
  if (results.empty() || params.empty()) return empty_picture(title);
  std::stable_sort(results.begin(), results.end(), [](const Result& a, const Result& b) { return a.score < b.score; });

  const ParallelFrame frame(params.size());
  std::string body = parallel_lines(frame, results, params);
  for (std::size_t column = 0; column < params.size(); ++column) {
    const Param& param = history.spec().space.params()[params[column]];
    const auto* choice = std::get_if<Choice>(&param.domain);
    const std::array<std::string, 2> ends = choice ? std::array<std::string, 2>{} : ends_of(param);
    body += parallel_axis(frame, column, param.name, ends, choice);
  }
  body += parallel_axis(frame,
                        params.size(),
                        result_name(history.spec().metric),
                        {short_number(history.in_user_units(results.front().score)),
                         short_number(history.in_user_units(results.back().score))},
                        nullptr);
  body +=
      text_element(20.0,
                   ParallelFrame::kHeight - 16.0,
                   Anchor::start,
                   12.0,
                   "#666666",
                   fmt::format("{}, results by rank; the best tenth in blue", plural(std::ssize(results), "trial")));
  return page(frame.width, ParallelFrame::kHeight, title, "", body);
}

std::string plot_importance(const History& history) {
  const std::string title = history.spec().name + ": what results go with";
  const std::vector<Importance> shares = importance_of(history);
  if (shares.empty()) {
    Figure figure(title, "", {}, {});
    figure.message(fmt::format("{} results are needed", kFewestForImportance));
    return figure.svg();
  }
  constexpr double kLeft = 180.0;
  constexpr double kRight = 700.0;
  constexpr double kRow = 30.0;
  std::string body;
  double y = 80.0;
  for (const Importance& share : shares) {
    body += fitted_element(kLeft - 10.0, y + 5.0, Anchor::end, 13.0, kLeft - 20.0, "#222222", share.param);
    body += fmt::format("<rect x=\"{}\" y=\"{}\" width=\"{:.1f}\" height=\"18\" fill=\"{}\"/>\n",
                        kLeft,
                        y - 9.0,
                        std::max(1.0, share.share * (kRight - kLeft)),
                        kResultColor);
    body += text_element(kLeft + share.share * (kRight - kLeft) + 8.0,
                         y + 5.0,
                         Anchor::start,
                         12.0,
                         "#666666",
                         fmt::format("{:.0f} %", 100.0 * share.share));
    y += kRow;
  }
  return page(
      800.0, y + 10.0, title, "share of the variation between trials that goes with each parameter alone", body);
}

}  // namespace bapi
