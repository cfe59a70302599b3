#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "bapi/cli/commands.h"
#include "bapi/cli/exit_code.h"
#include "bapi/cli/insight_input.h"
#include "bapi/cli/listing.h"
#include "bapi/report/svg.h"

namespace bapi {
namespace {

constexpr std::size_t kMostCurves = 8;  // in one picture
constexpr const char* kColors[kMostCurves] = {
    "#0072B2", "#E69F00", "#009E73", "#D55E00", "#CC79A7", "#56B4E9", "#000000", "#9a9a9a"};

struct ForecastArguments {
  std::vector<std::string> words;
  std::string format = "table";
  std::string out;
};

// Trials that can still grow, the most promising first; without any, all that reported.
std::vector<CurveForecast> forecasts_of(const StudyView& study, const Insight& insight) {
  std::vector<CurveForecast> forecasts;
  for (const Trial& trial : study.history.trials()) {
    const bool open = trial.segment || trial.resumable();
    if (open && !trial.curve.empty()) forecasts.push_back(insight.forecast(trial));
  }
  if (forecasts.empty()) {
    for (const Trial& trial : study.history.trials()) {
      if (!trial.curve.empty()) forecasts.push_back(insight.forecast(trial));
    }
  }
  std::stable_sort(forecasts.begin(), forecasts.end(), [](const CurveForecast& a, const CurveForecast& b) {
    return a.chance_of_best > b.chance_of_best;
  });
  return forecasts;
}

std::string plot_forecasts(const StudyView& study, std::vector<CurveForecast> forecasts) {
  if (forecasts.size() > kMostCurves) forecasts.resize(kMostCurves);
  std::vector<double> values;
  std::vector<LegendEntry> legend;
  for (std::size_t i = 0; i < forecasts.size(); ++i) {
    const CurveForecast& f = forecasts[i];
    for (const Measurement& m : study.history.trial(f.trial).curve.points()) {
      values.push_back(study.history.in_user_units(m.value));
    }
    values.insert(values.end(), {f.curve.back().low, f.curve.back().high});
    legend.push_back({.label = fmt::format("trial {}", index(f.trial)), .color = kColors[i]});
  }
  const Axis x{
      .label = "epoch", .low = 0.0, .high = static_cast<double>(study.spec().epochs.max), .ticks = Ticks::whole};
  Figure figure(fmt::format("{}: forecasts", study.spec().name),
                "measured (dots), expected course with its 80 % band",
                x,
                axis_over(values, study.spec().metric.name),
                legend);
  for (std::size_t i = 0; i < forecasts.size(); ++i) {
    const CurveForecast& f = forecasts[i];
    std::vector<Point> mean;
    std::vector<Point> low;
    std::vector<Point> high;
    for (std::size_t t = 0; t < f.epochs.size(); ++t) {
      const double epoch = f.epochs[t];
      if (f.epochs[t] < f.done) continue;
      mean.push_back({epoch, f.curve[t].mean});
      low.push_back({epoch, f.curve[t].low});
      high.push_back({epoch, f.curve[t].high});
    }
    figure.band(high, low, kColors[i], 0.15);
    figure.line(mean, {.color = kColors[i], .width = 1.5, .dash = "5 3"});
    for (const Measurement& m : study.history.trial(f.trial).curve.points()) {
      figure.marker(
          {static_cast<double>(m.epoch), study.history.in_user_units(m.value)}, Marker::disc, 2.0, kColors[i]);
    }
  }
  return figure.svg();
}

Table summary_table(const StudyView& study, const std::vector<CurveForecast>& forecasts) {
  Table table({"trial", "epochs", "now", "final", "low", "high", "stop", "cost_to_finish", "chance_of_best"});
  for (const CurveForecast& f : forecasts) {
    const Prediction& last = f.curve.back();
    table.add({index(f.trial),
               f.done,
               study.history.in_user_units(study.history.trial(f.trial).curve.best()),
               last.mean,
               last.low,
               last.high,
               f.stop,
               f.cost_to_finish,
               f.chance_of_best});
  }
  return table;
}

Table course_table(const StudyView& study, const CurveForecast& f) {
  const Curve& curve = study.history.trial(f.trial).curve;
  Table table({"epoch", "measured", "expected", "low", "high"});
  for (std::size_t t = 0; t < f.epochs.size(); ++t) {
    const Epoch epoch = f.epochs[t];
    table.add({epoch,
               epoch <= curve.last_epoch() ? Cell(study.history.in_user_units(curve.value(epoch))) : Cell(),
               f.curve[t].mean,
               f.curve[t].low,
               f.curve[t].high});
  }
  return table;
}

int forecast(const ForecastArguments& arguments) {
  const Format format = parse_format(arguments.format);
  const StudyAndTrial target = study_and_trial(arguments.words);
  const StudyView study = study_to_show(target.study);
  const Insight insight = insight_of(study);
  const std::vector<CurveForecast> forecasts =
      target.trial ? std::vector<CurveForecast>{insight.forecast(trial_of(study, *target.trial))}
                   : forecasts_of(study, insight);
  print(render(target.trial ? course_table(study, forecasts.front()) : summary_table(study, forecasts), format));
  const std::string name = target.trial ? fmt::format("forecast-{}.svg", *target.trial) : "forecast.svg";
  note("picture: " + write_picture(study, arguments.out, name, plot_forecasts(study, forecasts)));
  return kDone;
}

}  // namespace

Command forecast_command() {
  return {.name = "forecast",
          .summary = "How the curves of the trials are expected to go on",
          .examples =
              "Examples:\n"
              "  bapi forecast mlp           every trial that can still grow, the most promising first\n"
              "  bapi forecast mlp 7         one trial, epoch by epoch\n\n"
              "low and high are the ends of the 80 % band; stop is the epoch where the curve will have flattened out.\n"
              "Writes forecast.svg.",
          .declare = [](Arguments& arguments) -> std::function<int()> {
            const auto parsed = std::make_shared<ForecastArguments>();
            arguments.optional_positionals("[STUDY] [TRIAL]", parsed->words, kStudyHelp);
            arguments.option("-f,--format", parsed->format, "table, json or csv");
            arguments.option("-o,--out", parsed->out, "Directory for the picture; default: plots/ of the study");
            return [parsed] { return forecast(*parsed); };
          }};
}

}  // namespace bapi
