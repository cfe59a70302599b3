#include "bapi/studies/forecast.h"

#include <fmt/format.h>

#include <cmath>
#include <memory>

#include "bapi/cli/commands.h"
#include "bapi/cli/exit_code.h"
#include "bapi/cli/listing.h"
#include "bapi/cli/plot_files.h"
#include "bapi/cli/study_and_trial.h"
#include "bapi/report/text.h"

namespace bapi {
namespace {

struct ForecastArguments {
  std::vector<std::string> words;
  std::string format = "table";
  std::string out;
};

// For people: the chance in percent, costs with their unit.
Table readable(const StudyView& study, const Table& forecasts) {
  Table table(forecasts.columns());
  for (std::vector<Cell> row : forecasts.rows()) {
    row.back() = std::round(1e4 * row.back().get<double>()) / 1e2;
    table.add(std::move(row));
  }
  table.head("final", "final " + study.spec().metric.name);
  table.head("cost_to_finish", with_unit("cost to finish", study.spec().budget));
  return table.head("chance_of_best", "chance to beat the current best (%)");
}

int show_forecast(const ForecastArguments& arguments) {
  const Format format = parse_format(arguments.format);
  const StudyAndTrial target = study_and_trial(arguments.words);
  const StudyView study = study_to_show(target.study);
  const std::vector<CurveForecast> forecasts = forecast(study, target.trial);
  if (target.trial) {
    print(render(course_table(study, forecasts.front()), format));
  } else {
    const Table table = forecast_table(study, forecasts);
    print(render(format == Format::table ? readable(study, table) : table, format));
  }
  const std::string name = target.trial ? fmt::format("forecast-{}.svg", *target.trial) : "forecast.svg";
  note("plot: " + write_picture(study, arguments.out, name, plot_forecasts(study, forecasts)));
  return kDone;
}

}  // namespace

Command forecast_command() {
  return {.name = "forecast",
          .summary = "Predict how each trial's learning curve will continue",
          .examples =
              "Examples:\n"
              "  bapi forecast mlp           every trial that can continue, best first\n"
              "  bapi forecast mlp 7         one trial, epoch by epoch\n\n"
              "low and high bound the 80 % interval; stop is the epoch by which the curve should be flat. Writes\n"
              "forecast.svg. JSON: [{trial, epochs, now, final, low, high, stop, cost_to_finish, chance_of_best}]; for "
              "one\n"
              "trial [{epoch, measured, expected, low, high}].",
          .declare = [](Arguments& arguments) -> std::function<int()> {
            const auto parsed = std::make_shared<ForecastArguments>();
            arguments.optional_positionals("[STUDY] [TRIAL]", parsed->words, kStudyHelp);
            arguments.option("-f,--format", parsed->format, "Output format: table, json or csv");
            arguments.option("-o,--out", parsed->out, "Directory for the plot; default: plots/ in the study directory");
            return [parsed] { return show_forecast(*parsed); };
          }};
}

}  // namespace bapi
